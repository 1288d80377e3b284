! A ring of messages; BINDING is one of the three ways to MPI that Fortran has, chosen by the preprocessor.
program ring
#if defined(USE_F08)
  use mpi_f08
#elif defined(USE_MPI)
  use mpi
#endif
  implicit none
#if defined(USE_MPIFH)
  include 'mpif.h'
#endif
#if defined(USE_F08)
  type(MPI_Request) :: q(2)
  type(MPI_Status) :: s
  type(MPI_Comm) :: c
#else
  integer :: q(2), s(MPI_STATUS_SIZE), c
#endif
  integer :: r, n, e
  double precision :: a(10), b(10)
  a = 1
  call MPI_Init(e)
  call MPI_Comm_dup(MPI_COMM_WORLD, c, e)
  call MPI_Comm_set_name(c, 'of fortran', e)
  call MPI_Comm_rank(c, r, e)
  call MPI_Comm_size(c, n, e)
  call MPI_Irecv(b, 10, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, 3, c, q(1), e)
  call MPI_Isend(a, 5, MPI_DOUBLE_PRECISION, mod(r + 1, n), 3, c, q(2), e)
  call MPI_Wait(q(1), s, e)
  call MPI_Waitall(2, q, MPI_STATUSES_IGNORE, e)
  if (r == 0) call MPI_Send(a, 1, MPI_DOUBLE_PRECISION, 1, 4, c, e)
  if (r == 1) call MPI_Recv(b, 1, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, MPI_ANY_TAG, c, MPI_STATUS_IGNORE, e)
  call MPI_Allreduce(MPI_IN_PLACE, a, 10, MPI_DOUBLE_PRECISION, MPI_SUM, c, e)
  call MPI_Barrier(c, e)
  call MPI_Comm_free(c, e)
  call MPI_Finalize(e)
end program
