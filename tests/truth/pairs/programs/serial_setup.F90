! Rank 0 assembles the whole matrix while the others wait in MPI_Bcast; each can assemble its part.
subroutine assemble_matrix(part)
  use pair
  implicit none
  double precision, intent(in) :: part
  call pair_sleep(80 * part)
end subroutine

program setup
  use pair
  implicit none
  double precision :: matrix(4000), whole(4000)
  integer :: step
  call pair_begin()
  matrix = 1
  do step = 1, 5
    if (is_fixed) then
      call assemble_matrix(1d0 / ranks)
      call MPI_Allgather(matrix, 4000 / ranks, MPI_DOUBLE_PRECISION, whole, 4000 / ranks, MPI_DOUBLE_PRECISION, &
                         MPI_COMM_WORLD, failed)
    else
      if (rank == 0) call assemble_matrix(1d0)
      call MPI_Bcast(matrix, 4000, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, failed)
    end if
    call pair_sleep(20d0)
  end do
  call pair_end()
end program
