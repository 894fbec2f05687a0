! gravel for Fortran 2008: the C interface as a module.
!
!   use gravel
!   type(c_ptr) :: context, bodies, direct
!   call gravel_check(gravel_open(context, 'cpu'))
!   call gravel_check(gravel_bodies_new(bodies, context, GRAVEL_DS))
!   call gravel_check(gravel_write(bodies, GRAVEL_POSITION, x))        ! x(3,n)
!   call gravel_check(gravel_write(bodies, GRAVEL_MASS, m))            ! m(n)
!   call gravel_check(gravel_direct_new(direct, context, 4, GRAVEL_DS))
!   call gravel_check(gravel_direct_forces(direct, bodies, 4, eps))    ! into the planes of the bodies
!   call gravel_check(gravel_read(bodies, GRAVEL_ACCELERATION, acc))   ! acc(3,n)
!
! Structs and functions bound to C have the names and members of the C headers, which are the manual; what this module adds
! for convenience is marked.  Addresses count from 0, as in C.
module gravel
    use, intrinsic :: iso_c_binding
    use, intrinsic :: iso_fortran_env, only: error_unit
    implicit none
    private :: text_of, error_unit

    integer, parameter :: GRAVEL_SP = 0, GRAVEL_DS = 1, GRAVEL_DP = 2
    integer, parameter :: GRAVEL_MASS = 0, GRAVEL_ID = 1, GRAVEL_POSITION = 2, GRAVEL_VELOCITY = 3, &
        GRAVEL_ACCELERATION = 4, GRAVEL_JERK = 5, GRAVEL_SNAP = 6, GRAVEL_CRACKLE = 7, GRAVEL_TIME = 8, &
        GRAVEL_STEP = 9, GRAVEL_POTENTIAL = 10, GRAVEL_SOFTENING = 11, GRAVEL_RADIUS = 12, GRAVEL_USER = 13
    integer, parameter :: GRAVEL_F64 = 0, GRAVEL_F32 = 1, GRAVEL_I32 = 2
    integer, parameter :: GRAVEL_INTO_HOST = 1, GRAVEL_INTO_PLANES = 2, GRAVEL_INTO_ADD = 4

    type, bind(C) :: gravel_context_options
        integer(c_int32_t) :: size
        type(c_ptr) :: device, kernel_dir, cache_dir, profile_dir
        integer(c_int) :: no_fp64
        type(c_funptr) :: log
        type(c_ptr) :: log_user
    end type
    type, bind(C) :: gravel_bodies_options
        integer(c_int32_t) :: size
        integer(c_int) :: precision, device
        integer(c_size_t) :: capacity
    end type
    type, bind(C) :: gravel_direct_options
        integer(c_int32_t) :: size
        integer(c_int) :: order, precision, nearest, neighbour_capacity, prediction, device
        type(c_ptr) :: configuration
    end type
    type, bind(C) :: gravel_tree_options
        integer(c_int32_t) :: size
        real(c_double) :: theta
        integer(c_int) :: mac, moments, softening, precision, device
        type(c_ptr) :: configuration
        real(c_double) :: split, cut, period
    end type
    type, bind(C) :: gravel_array
        type(c_ptr) :: x, y, z
        integer(c_size_t) :: stride
        integer(c_int) :: type
    end type
    type, bind(C) :: gravel_view
        type(c_ptr) :: bodies
        integer(c_int) :: kind
        integer(c_size_t) :: first, count
        type(c_ptr) :: list
    end type
    type, bind(C) :: gravel_direct_call
        integer(c_int32_t) :: size
        type(gravel_view) :: sources, sinks
        type(c_ptr) :: points
        integer(c_int) :: order
        real(c_double) :: eps
        integer(c_int) :: soften, predict
        real(c_double) :: time
        integer(c_int) :: nearest, neighbour_capacity, into, rule
        type(c_ptr) :: ahead
        integer(c_int) :: leave_out, shape
        real(c_double) :: r_s, r_cut
        integer(c_int) :: level, quadrupoles
        type(c_ptr) :: changes, points_eps
    end type
    type, bind(C) :: gravel_tree_call
        integer(c_int32_t) :: size
        type(gravel_view) :: sinks
        type(c_ptr) :: points, groups
        integer(c_int) :: last
        real(c_double) :: eps
        integer(c_int) :: soften, moved
        real(c_double) :: shift(3)
        integer(c_int) :: into
    end type

    interface
        function gravel_error_message() bind(C)
            import :: c_ptr
            type(c_ptr) :: gravel_error_message
        end function
        subroutine gravel_context_options_init(options) bind(C)
            import :: gravel_context_options
            type(gravel_context_options), intent(out) :: options
        end subroutine
        integer(c_int) function gravel_context_create(context, options) bind(C)
            import :: c_int, c_ptr, gravel_context_options
            type(c_ptr), intent(out) :: context
            type(gravel_context_options), intent(in) :: options
        end function
        subroutine gravel_context_release(context) bind(C)
            import :: c_ptr
            type(c_ptr), value :: context
        end subroutine
        subroutine gravel_bodies_options_init(options) bind(C)
            import :: gravel_bodies_options
            type(gravel_bodies_options), intent(out) :: options
        end subroutine
        integer(c_int) function gravel_bodies_create(bodies, context, options) bind(C)
            import :: c_int, c_ptr, gravel_bodies_options
            type(c_ptr), intent(out) :: bodies
            type(c_ptr), value :: context
            type(gravel_bodies_options), intent(in) :: options
        end function
        subroutine gravel_bodies_release(bodies) bind(C)
            import :: c_ptr
            type(c_ptr), value :: bodies
        end subroutine
        integer(c_size_t) function gravel_bodies_get_count(bodies) bind(C)
            import :: c_size_t, c_ptr
            type(c_ptr), value :: bodies
        end function
        integer(c_int) function gravel_bodies_write(bodies, plane, first, count, from) bind(C)
            import :: c_int, c_ptr, c_size_t, gravel_array
            type(c_ptr), value :: bodies
            integer(c_int), value :: plane
            integer(c_size_t), value :: first, count
            type(gravel_array), intent(in) :: from
        end function
        integer(c_int) function gravel_bodies_read(bodies, plane, first, count, to) bind(C)
            import :: c_int, c_ptr, c_size_t, gravel_array
            type(c_ptr), value :: bodies
            integer(c_int), value :: plane
            integer(c_size_t), value :: first, count
            type(gravel_array), intent(in) :: to
        end function
        subroutine gravel_direct_options_init(options) bind(C)
            import :: gravel_direct_options
            type(gravel_direct_options), intent(out) :: options
        end subroutine
        integer(c_int) function gravel_direct_create(direct, context, options) bind(C)
            import :: c_int, c_ptr, gravel_direct_options
            type(c_ptr), intent(out) :: direct
            type(c_ptr), value :: context
            type(gravel_direct_options), intent(in) :: options
        end function
        subroutine gravel_direct_release(direct) bind(C)
            import :: c_ptr
            type(c_ptr), value :: direct
        end subroutine
        subroutine gravel_direct_call_init(call) bind(C)
            import :: gravel_direct_call
            type(gravel_direct_call), intent(out) :: call
        end subroutine
        integer(c_int) function gravel_direct_start(direct, call, ticket) bind(C)
            import :: c_int, c_ptr, gravel_direct_call
            type(c_ptr), value :: direct
            type(gravel_direct_call), intent(in) :: call
            type(c_ptr), value :: ticket
        end function
        subroutine gravel_tree_options_init(options) bind(C)
            import :: gravel_tree_options
            type(gravel_tree_options), intent(out) :: options
        end subroutine
        integer(c_int) function gravel_tree_create(tree, context, options) bind(C)
            import :: c_int, c_ptr, gravel_tree_options
            type(c_ptr), intent(out) :: tree
            type(c_ptr), value :: context
            type(gravel_tree_options), intent(in) :: options
        end function
        subroutine gravel_tree_release(tree) bind(C)
            import :: c_ptr
            type(c_ptr), value :: tree
        end subroutine
        integer(c_int) function gravel_tree_set_sources(tree, sources) bind(C)
            import :: c_int, c_ptr, gravel_view
            type(c_ptr), value :: tree
            type(gravel_view), intent(in) :: sources
        end function
        subroutine gravel_tree_call_init(call) bind(C)
            import :: gravel_tree_call
            type(gravel_tree_call), intent(out) :: call
        end subroutine
        integer(c_int) function gravel_tree_walk(tree, call, ticket) bind(C)
            import :: c_int, c_ptr, gravel_tree_call
            type(c_ptr), value :: tree
            type(gravel_tree_call), intent(in) :: call
            type(c_ptr), value :: ticket
        end function
    end interface

    ! Convenience: whole planes from and to Fortran arrays, (3,n) or (n)
    interface gravel_write
        module procedure write_vectors, write_scalars, write_integers
    end interface
    interface gravel_read
        module procedure read_vectors, read_scalars
    end interface

contains

    ! Convenience: what the last failure was.
    function gravel_message() result(text)
        character(len=:), allocatable :: text
        text = text_of(gravel_error_message())
    end function

    function text_of(from) result(text)
        type(c_ptr), intent(in) :: from
        character(len=:), allocatable :: text
        character(kind=c_char), pointer :: letter(:)
        integer :: n, k
        call c_f_pointer(from, letter, [65536])
        n = 0
        do while (letter(n + 1) /= c_null_char .and. n < 65535)
            n = n + 1
        end do
        allocate (character(len=n) :: text)
        do k = 1, n
            text(k:k) = letter(k)
        end do
    end function

    ! Convenience: ends the program with the message if a call failed.
    subroutine gravel_check(status)
        integer(c_int), intent(in) :: status
        if (status == 0) return
        write (error_unit, '(2a)') 'gravel: ', gravel_message()
        error stop 1
    end subroutine

    ! Convenience: a context on the device of this name ('': the best one).
    integer(c_int) function gravel_open(context, device) result(status)
        type(c_ptr), intent(out) :: context
        character(len=*), intent(in) :: device
        type(gravel_context_options) :: options
        character(kind=c_char), target :: name(len_trim(device) + 1)
        integer :: k
        call gravel_context_options_init(options)
        do k = 1, len_trim(device)
            name(k) = device(k:k)
        end do
        name(len_trim(device) + 1) = c_null_char
        if (len_trim(device) > 0) options%device = c_loc(name)
        status = gravel_context_create(context, options)
    end function

    integer(c_int) function gravel_bodies_new(bodies, context, precision) result(status)
        type(c_ptr), intent(out) :: bodies
        type(c_ptr), intent(in) :: context
        integer, intent(in) :: precision
        type(gravel_bodies_options) :: options
        call gravel_bodies_options_init(options)
        options%precision = precision
        status = gravel_bodies_create(bodies, context, options)
    end function

    integer(c_int) function gravel_direct_new(direct, context, order, precision) result(status)
        type(c_ptr), intent(out) :: direct
        type(c_ptr), intent(in) :: context
        integer, intent(in) :: order, precision
        type(gravel_direct_options) :: options
        call gravel_direct_options_init(options)
        options%order = order
        options%precision = precision
        status = gravel_direct_create(direct, context, options)
    end function

    ! Convenience: forces of all bodies on all, into their planes.
    integer(c_int) function gravel_direct_forces(direct, bodies, order, eps) result(status)
        type(c_ptr), intent(in) :: direct, bodies
        integer, intent(in) :: order
        real(c_double), intent(in) :: eps
        type(gravel_direct_call) :: call
        call gravel_direct_call_init(call)
        call%sources%bodies = bodies
        call%sinks%bodies = bodies
        call%order = order
        call%eps = eps
        call%into = GRAVEL_INTO_PLANES
        status = gravel_direct_start(direct, call, c_null_ptr)
    end function

    integer(c_int) function write_vectors(bodies, plane, from) result(status)
        type(c_ptr), intent(in) :: bodies
        integer, intent(in) :: plane
        real(c_double), intent(in), target, contiguous :: from(:, :)
        type(gravel_array) :: array
        array = gravel_array(c_loc(from(1, 1)), c_loc(from(2, 1)), c_loc(from(3, 1)), 3_c_size_t, GRAVEL_F64)
        status = gravel_bodies_write(bodies, int(plane, c_int), 0_c_size_t, size(from, 2, c_size_t), array)
    end function

    integer(c_int) function write_scalars(bodies, plane, from) result(status)
        type(c_ptr), intent(in) :: bodies
        integer, intent(in) :: plane
        real(c_double), intent(in), target, contiguous :: from(:)
        type(gravel_array) :: array
        array = gravel_array(c_loc(from(1)), c_null_ptr, c_null_ptr, 1_c_size_t, GRAVEL_F64)
        status = gravel_bodies_write(bodies, int(plane, c_int), 0_c_size_t, size(from, 1, c_size_t), array)
    end function

    integer(c_int) function write_integers(bodies, plane, from) result(status)
        type(c_ptr), intent(in) :: bodies
        integer, intent(in) :: plane
        integer(c_int32_t), intent(in), target, contiguous :: from(:)
        type(gravel_array) :: array
        array = gravel_array(c_loc(from(1)), c_null_ptr, c_null_ptr, 1_c_size_t, GRAVEL_I32)
        status = gravel_bodies_write(bodies, int(plane, c_int), 0_c_size_t, size(from, 1, c_size_t), array)
    end function

    integer(c_int) function read_vectors(bodies, plane, to) result(status)
        type(c_ptr), intent(in) :: bodies
        integer, intent(in) :: plane
        real(c_double), intent(inout), target, contiguous :: to(:, :)
        type(gravel_array) :: array
        array = gravel_array(c_loc(to(1, 1)), c_loc(to(2, 1)), c_loc(to(3, 1)), 3_c_size_t, GRAVEL_F64)
        status = gravel_bodies_read(bodies, int(plane, c_int), 0_c_size_t, size(to, 2, c_size_t), array)
    end function

    integer(c_int) function read_scalars(bodies, plane, to) result(status)
        type(c_ptr), intent(in) :: bodies
        integer, intent(in) :: plane
        real(c_double), intent(inout), target, contiguous :: to(:)
        type(gravel_array) :: array
        array = gravel_array(c_loc(to(1)), c_null_ptr, c_null_ptr, 1_c_size_t, GRAVEL_F64)
        status = gravel_bodies_read(bodies, int(plane, c_int), 0_c_size_t, size(to, 1, c_size_t), array)
    end function
end module gravel
