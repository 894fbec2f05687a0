! Two-body orbit through the interface of GRAPE-5, in Fortran.
!
!     gfortran g5_forces.f90 $(pkg-config --libs gravel_g5) -o g5_forces
!     ./g5_forces
!
! Leapfrog around a circle of radius 1; the names need no module.  The potential is positive and has the term m/eps of
! each body itself, which is taken out.  Ends with status 1 if the energy changed by more than 1e-4.
program g5_forces
    implicit none
    integer, parameter :: dp = kind(1d0), n = 2, steps = 200
    real(dp), parameter :: eps = 0.01_dp, dt = 0.03_dp
    real(dp) :: x(3, n), v(3, n), a(3, n), p(n), m(n), e0, e
    integer :: k
    external :: g5_open, g5_close, g5_set_eps_to_all, g5_set_n, g5_set_xmj, g5_calculate_force_on_x

    m = 0.5_dp
    x = reshape([0.5_dp, 0._dp, 0._dp, -0.5_dp, 0._dp, 0._dp], [3, n])
    v = reshape([0._dp, 0.5_dp, 0._dp, 0._dp, -0.5_dp, 0._dp], [3, n])
    call g5_open()
    call g5_set_eps_to_all(eps)
    call g5_set_n(n)
    call forces()
    e0 = energy()
    do k = 1, steps
        v = v + 0.5_dp * dt * a
        x = x + dt * v
        call forces()
        v = v + 0.5_dp * dt * a
    end do
    e = energy()
    call g5_close()
    write (*, '(a, es9.2)') 'one orbit, change of the energy: ', (e - e0) / abs(e0)
    if (.not. abs(e - e0) < 1e-4_dp * abs(e0)) stop 1
contains
    subroutine forces()
        call g5_set_xmj(0, n, x, m)
        call g5_calculate_force_on_x(x, a, p, n)
    end subroutine

    real(dp) function energy()
        integer :: i
        energy = 0
        do i = 1, n
            energy = energy + 0.5_dp * m(i) * (sum(v(:, i)**2) - (p(i) - m(i) / eps))
        end do
    end function
end program
