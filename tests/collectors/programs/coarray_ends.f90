! An image puts to itself and nothing to its neighbour, gets nothing, and ends as its argument states: normally, by error
! stop, or killed while the others wait for it.
program ends
  use iso_fortran_env
  implicit none
  real(real64) :: a(8)[*], b(8)
  integer :: me, right, none
  character(16) :: how

  interface
    subroutine abort() bind(c)
    end subroutine
  end interface

  call get_command_argument(1, how)
  me = this_image()
  right = merge(1, me + 1, me == num_images())
  none = len_trim(how) - len_trim(how)
  a = 0
  b = me
  sync all
  a(1:5)[me] = b(1:5)
  a(1:none)[right] = b(1:none)
  b(1:none) = a(1:none)[right]
  if (any(a(1:5) /= me)) call abort()
  if (me == 2 .and. how == "error stop") error stop 3
  if (me == 2 .and. how == "killed") call abort()
  sync all
end program
