! Coarray accesses of known number and size; prints the sum that they make.
program accesses
  use iso_fortran_env
  implicit none
  integer, parameter :: n = 100, rounds = 10
  real(real64) :: a(n)[*], b(n), total
  integer(atomic_int_kind) :: counter[*]
  type(event_type) :: ready[*]
  integer :: me, right, i

  me = this_image()
  right = merge(1, me + 1, me == num_images())
  a = me
  b = 0
  if (me == 1) call atomic_define(counter[1], 0)
  sync all
  do i = 1, rounds
    b(1:50) = a(1:50)[right]      ! 400 bytes
    sync all
    a(51:60)[right] = b(1:10)     ! 80 bytes
    sync all
  end do
  call atomic_add(counter[1], 1)
  event post(ready[right])
  event wait(ready)
  sync images(*)
  total = sum(b(1:50))
  call co_sum(total)
  if (me == 1) print '(f0.1)', total
end program
