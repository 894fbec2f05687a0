! Forces on a star cluster from Fortran.
!
!     gfortran cluster.f90 gravel.f90 $(pkg-config --libs gravel) -o cluster
!     ./cluster
!
! The module gravel (gravel.f90, installed beside the headers) writes arrays (3,n) and (n) into planes on the device and
! reads results back.  The sum of m a over all bodies is printed: it vanishes, since each pair acts both ways.
program cluster
    use gravel
    implicit none
    integer, parameter :: n = 1000
    real(c_double) :: x(3, n), v(3, n), m(n), acc(3, n), jerk(3, n), pot(n), total(3), size_of_sum
    type(c_ptr) :: context, bodies, direct
    integer :: seed_size, k

    call random_seed(size=seed_size)
    call random_seed(put=[(k, k = 1, seed_size)])
    call random_number(x)
    call random_number(v)
    m = 1.0_c_double/n

    call gravel_check(gravel_open(context, ''))
    call gravel_check(gravel_bodies_new(bodies, context, GRAVEL_DS))
    call gravel_check(gravel_write(bodies, GRAVEL_POSITION, x))
    call gravel_check(gravel_write(bodies, GRAVEL_VELOCITY, v))
    call gravel_check(gravel_write(bodies, GRAVEL_MASS, m))
    call gravel_check(gravel_write(bodies, GRAVEL_ID, [(int(k, c_int32_t), k = 1, n)]))

    call gravel_check(gravel_direct_new(direct, context, 4, GRAVEL_DS))
    call gravel_check(gravel_direct_forces(direct, bodies, 4, 0.01_c_double))
    call gravel_check(gravel_read(bodies, GRAVEL_ACCELERATION, acc))
    call gravel_check(gravel_read(bodies, GRAVEL_JERK, jerk))
    call gravel_check(gravel_read(bodies, GRAVEL_POTENTIAL, pot))

    total = matmul(acc, m)
    size_of_sum = sum(m*sqrt(sum(acc**2, dim=1)))
    print '(a, es10.3, a, es10.3)', 'potential energy ', 0.5_c_double*sum(m*pot), ', largest jerk ', maxval(abs(jerk))
    print '(a, es9.2)', 'sum of m a beside sum of m |a|: ', maxval(abs(total))/size_of_sum

    call gravel_direct_release(direct)
    call gravel_bodies_release(bodies)
    call gravel_context_release(context)
    ! terms are rounded to floats: n of them add up to n 2^-24 at most
    if (maxval(abs(total)) > n*2.0_c_double**(-24)*size_of_sum) error stop 1
end program cluster
