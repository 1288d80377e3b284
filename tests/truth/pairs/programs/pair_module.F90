! What the Fortran programs share: work that needs no core, and the bounds of what is measured (see pair.h).
module pair
  use mpi
  use, intrinsic :: iso_c_binding, only: c_int
  implicit none
  integer :: rank, ranks, failed
  double precision :: began
#ifdef FIXED
  logical, parameter :: is_fixed = .true.
#else
  logical, parameter :: is_fixed = .false.
#endif
  interface
    function usleep(microseconds) bind(c)
      import :: c_int
      integer(c_int), value :: microseconds
      integer(c_int) :: usleep
    end function
  end interface
contains
  subroutine pair_sleep(ms)
    double precision, intent(in) :: ms
    integer(c_int) :: ignored
    ignored = usleep(int(ms * 1000, c_int))
  end subroutine

  subroutine pair_begin()
    call MPI_Init(failed)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, failed)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, failed)
    call MPI_Barrier(MPI_COMM_WORLD, failed)
    began = MPI_Wtime()
  end subroutine

  subroutine pair_end()
    call MPI_Barrier(MPI_COMM_WORLD, failed)
    if (rank == 0) write (*, '(a,f0.9)') 'seconds 0', MPI_Wtime() - began
    call MPI_Finalize(failed)
  end subroutine
end module
