module solver
contains
  subroutine relax(total)
    double precision, intent(inout) :: total
    integer :: i
    do i = 1, 100000000
      total = total + 1d0 / i
    end do
  end subroutine relax
end module solver

program sampled
  use mpi
  use solver
  integer :: error
  double precision :: total
  call MPI_Init(error)
  total = 0
  call relax(total)
  call MPI_Barrier(MPI_COMM_WORLD, error)
  if (total < 0) print *, total
  call MPI_Finalize(error)
end program sampled
