! Calls of a Fortran program to `logpost record`: ../logpost.h says what each does. A module alone, to be copied next to any
! program; without the recorder each does nothing, and nothing has to be linked (before glibc 2.34: -ldl).
!
!     use logpost
!     call logpost_region_begin("solve")
!     ...
!     call logpost_region_end()
module logpost
  use, intrinsic :: iso_c_binding
  implicit none
  private
  public :: logpost_region_begin, logpost_region_end, logpost_marker, logpost_pause, logpost_resume, logpost_start, &
            logpost_dump

  abstract interface
    subroutine plain() bind(c)
    end subroutine
    subroutine named(name) bind(c)
      import :: c_char
      character(kind=c_char), intent(in) :: name(*)
    end subroutine
  end interface

  interface
    function find(library, name) bind(c, name="dlsym") result(address)
      import :: c_ptr, c_funptr, c_char
      type(c_ptr), value :: library
      character(kind=c_char), intent(in) :: name(*)
      type(c_funptr) :: address
    end function
  end interface

  logical :: looked = .false.
  procedure(named), pointer :: enter => null(), mark => null()
  procedure(plain), pointer :: leave => null(), off => null(), on => null(), cut => null(), ask => null()

contains

  subroutine logpost_region_begin(name)
    character(*), intent(in) :: name
    if (.not. looked) call look()
    if (associated(enter)) call enter(trim(name) // c_null_char)
  end subroutine

  subroutine logpost_region_end()
    if (.not. looked) call look()
    if (associated(leave)) call leave()
  end subroutine

  subroutine logpost_marker(name)
    character(*), intent(in) :: name
    if (.not. looked) call look()
    if (associated(mark)) call mark(trim(name) // c_null_char)
  end subroutine

  subroutine logpost_pause()
    if (.not. looked) call look()
    if (associated(off)) call off()
  end subroutine

  subroutine logpost_resume()
    if (.not. looked) call look()
    if (associated(on)) call on()
  end subroutine

  subroutine logpost_start()
    if (.not. looked) call look()
    if (associated(cut)) call cut()
  end subroutine

  subroutine logpost_dump()
    if (.not. looked) call look()
    if (associated(ask)) call ask()
  end subroutine

  subroutine look()
    call find_named("logpost_region_enter", enter)
    call find_named("logpost_mark_here", mark)
    call find_plain("logpost_region_leave", leave)
    call find_plain("logpost_switch_off", off)
    call find_plain("logpost_switch_on", on)
    call find_plain("logpost_cut_here", cut)
    call find_plain("logpost_ask_for_archive", ask)
    looked = .true.
  end subroutine

  subroutine find_named(name, hook)
    character(*), intent(in) :: name
    procedure(named), pointer, intent(out) :: hook
    type(c_funptr) :: address
    address = find(c_null_ptr, name // c_null_char)
    hook => null()
    if (c_associated(address)) call c_f_procpointer(address, hook)
  end subroutine

  subroutine find_plain(name, hook)
    character(*), intent(in) :: name
    procedure(plain), pointer, intent(out) :: hook
    type(c_funptr) :: address
    address = find(c_null_ptr, name // c_null_char)
    hook => null()
    if (c_associated(address)) call c_f_procpointer(address, hook)
  end subroutine

end module
