! What recording adds to an access to a coarray: a word put to one's own image and got back, in short blocks; the minimum
! of many, in ns per access, as JSON.
program coarray_calls
  use, intrinsic :: iso_fortran_env, only: int64, real64
  implicit none
  integer, parameter :: calls = 500, blocks = 400
  integer :: word[*], me, block, i, got
  integer(int64) :: from, to, rate
  real(real64) :: put, get
  me = this_image()
  word = 0
  put = huge(put)
  get = huge(get)
  call system_clock(count_rate=rate)
  do block = 1, blocks
    call system_clock(from)
    do i = 1, calls
      word[me] = i
    end do
    call system_clock(to)
    put = min(put, real(to - from, real64))
    call system_clock(from)
    do i = 1, calls
      got = word[me]
      if (got < 0) stop 1
    end do
    call system_clock(to)
    get = min(get, real(to - from, real64))
  end do
  sync all
  if (me == 1) print '(A, F0.1, A, F0.1, A)', '{"put": ', 1e9_real64 * put / rate / calls, ', "get": ', &
    1e9_real64 * get / rate / calls, '}'
end program
