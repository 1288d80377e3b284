! One MPI_Allreduce per element of a vector of 1000 dot products; one for the vector does the same.
subroutine sum_moments(mine, total)
  use pair
  implicit none
  double precision, intent(in) :: mine(1000)
  double precision, intent(out) :: total(1000)
  integer :: i
  if (is_fixed) then
    call MPI_Allreduce(mine, total, 1000, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, failed)
  else
    do i = 1, 1000
      call MPI_Allreduce(mine(i), total(i), 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, failed)
    end do
  end if
end subroutine

program moments
  use pair
  implicit none
  double precision :: mine(1000), total(1000)
  integer :: step
  call pair_begin()
  mine = 1
  do step = 1, 100
    call pair_sleep(1d0)
    call sum_moments(mine, total)
  end do
  call pair_end()
end program
