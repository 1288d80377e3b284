! A row of 4096 numbers is sent element by element; one message of 32 KiB does the same.
subroutine send_row(row)
  use pair
  implicit none
  double precision, intent(inout) :: row(4096)
  integer :: i, status(MPI_STATUS_SIZE)
  if (is_fixed) then
    if (rank == 0) call MPI_Send(row, 4096, MPI_DOUBLE_PRECISION, 1, 0, MPI_COMM_WORLD, failed)
    if (rank == 1) call MPI_Recv(row, 4096, MPI_DOUBLE_PRECISION, 0, 0, MPI_COMM_WORLD, status, failed)
  else
    do i = 1, 4096
      if (rank == 0) call MPI_Send(row(i), 1, MPI_DOUBLE_PRECISION, 1, 0, MPI_COMM_WORLD, failed)
      if (rank == 1) call MPI_Recv(row(i), 1, MPI_DOUBLE_PRECISION, 0, 0, MPI_COMM_WORLD, status, failed)
    end do
  end if
end subroutine

program rows
  use pair
  implicit none
  double precision :: row(4096)
  integer :: step
  call pair_begin()
  row = 1
  do step = 1, 150
    call pair_sleep(1d0)
    call send_row(row)
    call MPI_Barrier(MPI_COMM_WORLD, failed)
  end do
  call pair_end()
end program
