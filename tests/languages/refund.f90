! é🙂
module shop
  implicit none
  type :: order
    integer :: id
  contains
    procedure, pass :: load
  end type order
contains
  function refund(amount) result(ok)
    integer, intent(in) :: amount
    logical :: ok
    ok = amount > 0
  end function refund

  subroutine ring()
    print *, "a  b"  ! said
  end subroutine ring
end module shop

program till
  call ring()
end program till
