! Image 1 computes; the other one puts to it and gets from it concurrently.
program away
  implicit none
  integer, parameter :: rounds = 10
  integer(8) :: began, now, rate
  integer :: round
  real(8) :: a(100)[*], b(100)
  a = this_image()
  sync all
  do round = 1, rounds
    if (this_image() == 1) then
      call system_clock(began, rate)
      do
        call system_clock(now)
        if (now - began > rate / 20) exit
      end do
      b = a(:)[1]
      b = a(:)[2]
    else
      a(:)[1] = 2
      b = a(:)[1]
    end if
  end do
  sync all
  if (this_image() == 1) print '(f3.1)', b(1)
end program
