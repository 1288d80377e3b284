module halo
  use mpi
contains
  subroutine exchange(n)
    integer, intent(in) :: n
    integer :: e
    real(8) :: a, b
    a = n
    call MPI_Allreduce(a, b, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, e) ! at reduce
    call MPI_Barrier(MPI_COMM_WORLD, e) ! at barrier
    if (b < 0) print *, b
  end subroutine
end module

program heat
  use halo
  integer :: e
  call MPI_Init(e)
  call exchange(3) ! at exchange
  call MPI_Finalize(e)
end program
