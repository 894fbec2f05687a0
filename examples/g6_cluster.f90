! A star cluster through the interface of GRAPE-6, in Fortran.
!
!     gfortran gravel_g6.f90 g6_cluster.f90 $(pkg-config --libs gravel_g6) -o g6_cluster
!     ./g6_cluster [stars]
!
! Hermite scheme of fourth order with block time-steps, as in g6_cluster.c: the library predicts all stars and finds forces
! and jerks on those that are due, the program corrects these and sends them back.  The module gravel_g6 (installed in
! share/gravel/fortran) has the interfaces; codes that were written for GRAPE-6 call the same functions without it.
! Prints the error of the energy after one time unit; exit status 1 if it is above 1e-6.
program g6_cluster
    use, intrinsic :: iso_fortran_env, only: dp => real64
    use gravel_g6
    implicit none
    integer, parameter :: most = 16384, id = 0
    real(dp), parameter :: eps2 = 1.0_dp/4096, t_end = 1, largest_step = 2.0_dp**(-4), smallest_step = 2.0_dp**(-20), &
        accuracy = 0.01_dp
    real(dp), dimension(3, most) :: x, v, a, j, xi, vi, acc, jerk
    real(dp), dimension(most) :: t = 0, step = 0, pot = 0, h2 = 0
    integer :: star(most), n, pipes, count, i, rounds
    real(dp) :: mass, now, before, error
    character(len=16) :: text

    n = 1024
    call get_command_argument(1, text)
    if (text /= '') read (text, *) n
    if (n < 2 .or. n > most) error stop 'g6_cluster: 2 to 16384 stars'
    call make_cluster
    call check(g6_open(id))
    pipes = g6_npipes()

    a = 0
    j = 0
    do i = 1, n
        star(i) = i
        call send(i)
    end do
    now = 0
    xi(:, :n) = x(:, :n)
    vi(:, :n) = v(:, :n)
    call forces(n)
    do i = 1, n
        a(:, i) = acc(:, i)
        j(:, i) = jerk(:, i)
        step(i) = next_step(0.25_dp*accuracy*norm2(a(:, i))/norm2(j(:, i)), largest_step)
        call send(i)
    end do

    before = energy()
    rounds = 0
    do while (now < t_end)
        now = minval(t(:n) + step(:n))
        count = 0
        do i = 1, n
            if (t(i) + step(i) > now) cycle
            count = count + 1
            star(count) = i
            call predict(i, now - t(i), xi(:, count), vi(:, count))
        end do
        call forces(count)
        do i = 1, count
            call correct(star(i), now - t(star(i)), acc(:, i), jerk(:, i))
            call send(star(i))
        end do
        rounds = rounds + 1
    end do
    error = abs(energy()/before - 1)
    call check(g6_close(id))
    print '(i0, a, f4.1, a, i0, a, es7.1)', n, ' stars to t = ', t_end, ' in ', rounds, ' rounds; energy is off by ', error
    if (error > 1e-6_dp) error stop 1

contains

    subroutine check(status)
        integer, intent(in) :: status
        if (status /= 0) error stop 'g6_cluster: the library failed, see above'
    end subroutine

    ! Addresses count from 0; indices are the numbers of the stars.
    subroutine send(k)
        integer, intent(in) :: k
        real(dp), parameter :: k18(3) = 0
        call check(g6_set_j_particle(id, k - 1, k, t(k), step(k), mass, k18, j(:, k)/6, a(:, k)/2, v(:, k), x(:, k)))
    end subroutine

    ! Forces at the time `now` on the first m of xi, vi, as many at a time as there are pipes.
    subroutine forces(m)
        integer, intent(in) :: m
        integer :: first, some
        call check(g6_set_ti(id, now))
        do first = 1, m, pipes
            some = min(pipes, m - first + 1)
            call g6calc_firsthalf(id, n, some, star(first), xi(1, first), vi(1, first), a(1, first), j(1, first), &
                pot(first), eps2, h2)
            call check(g6calc_lasthalf(id, n, some, star(first), xi(1, first), vi(1, first), eps2, h2, &
                acc(1, first), jerk(1, first), pot(first)))
        end do
    end subroutine

    ! The largest power of two not above the wanted step by which `now` can be divided, at most twice the last step.
    real(dp) function next_step(wish, last) result(dt)
        real(dp), intent(in) :: wish, last
        dt = min(2*last, largest_step)
        do while (dt > smallest_step .and. (dt > wish .or. mod(now, dt) > 0))
            dt = dt/2
        end do
    end function

    subroutine predict(k, h, xp, vp)
        integer, intent(in) :: k
        real(dp), intent(in) :: h
        real(dp), intent(out) :: xp(3), vp(3)
        xp = x(:, k) + h*(v(:, k) + h/2*(a(:, k) + h/3*j(:, k)))
        vp = v(:, k) + h*(a(:, k) + h/2*j(:, k))
    end subroutine

    ! Star k over its step h, where forces are `an` and jerks `jn` at the end: Makino and Aarseth 1992.
    subroutine correct(k, h, an, jn)
        integer, intent(in) :: k
        real(dp), intent(in) :: h, an(3), jn(3)
        real(dp) :: a2(3), a3(3), old(3)
        a3 = (12*(a(:, k) - an) + 6*h*(j(:, k) + jn))/h**3
        a2 = (-6*(a(:, k) - an) - h*(4*j(:, k) + 2*jn))/h**2 + h*a3
        old = v(:, k)
        v(:, k) = old + h/2*(a(:, k) + an) + h**2/12*(j(:, k) - jn)
        x(:, k) = x(:, k) + h/2*(old + v(:, k)) + h**2/12*(a(:, k) - an)
        a(:, k) = an
        j(:, k) = jn
        t(k) = now
        step(k) = next_step(sqrt(accuracy*(norm2(an)*norm2(a2) + sum(jn**2))/(norm2(jn)*norm2(a3) + sum(a2**2))), step(k))
    end subroutine

    real(dp) function energy() result(e)
        integer :: p, q
        e = 0
        do p = 1, n
            e = e + 0.5_dp*mass*sum(v(:, p)**2)
            do q = 1, p - 1
                e = e - mass**2/sqrt(sum((x(:, p) - x(:, q))**2) + eps2)
            end do
        end do
    end function

    subroutine point(length, to)
        real(dp), intent(in) :: length
        real(dp), intent(out) :: to(3)
        real(dp) :: r(2), s
        call random_number(r)
        to(3) = 2*r(1) - 1
        s = sqrt(1 - to(3)**2)
        to(1) = s*cos(6.283185307179586_dp*r(2))
        to(2) = s*sin(6.283185307179586_dp*r(2))
        to = length*to
    end subroutine

    ! A Plummer sphere in standard units (M = G = 1, E = -1/4): Aarseth, Henon and Wielen 1974.
    subroutine make_cluster
        real(dp), parameter :: scale = 3*3.141592653589793_dp/16
        real(dp) :: u, r, q(2)
        integer :: k, seed_size
        call random_seed(size=seed_size)
        call random_seed(put=[(k, k=1, seed_size)])
        mass = 1.0_dp/n
        do k = 1, n
            call random_number(u)
            r = 1/sqrt((0.999_dp*u + 1e-6_dp)**(-2.0_dp/3) - 1)
            do
                call random_number(q)
                if (0.1_dp*q(2) <= q(1)**2*(1 - q(1)**2)**3.5_dp) exit
            end do
            call point(r*scale, x(:, k))
            call point(q(1)*sqrt(2.0_dp)*(1 + r**2)**(-0.25_dp)/sqrt(scale), v(:, k))
        end do
    end subroutine
end program g6_cluster
