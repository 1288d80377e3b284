! The rows of a triangle in two halves of equal width: the second half has three times the work. Cyclic rows are even.
subroutine eliminate(rows, mine, value)
  implicit none
  integer, intent(in) :: rows
  logical, intent(in) :: mine(rows)
  double precision, intent(inout) :: value
  integer :: row, column
  do row = 1, rows
    if (.not. mine(row)) cycle
    do column = 1, row
      value = value * 0.9999999d0 + 1d-7
    end do
  end do
end subroutine

program triangular
  use pair
  implicit none
  integer, parameter :: rows = 5000
  logical :: mine(rows)
  double precision :: value, total
  integer :: step, row
  call pair_begin()
  do row = 1, rows
    if (is_fixed) then
      mine(row) = mod(row, ranks) == rank
    else
      mine(row) = (row - 1) * ranks / rows == rank
    end if
  end do
  value = 1
  do step = 1, 30
    call eliminate(rows, mine, value)
    call MPI_Allreduce(value, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, failed)
  end do
  call pair_end()
end program
