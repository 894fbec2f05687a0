! gravel: the interface of GRAPE-6 for Fortran 2008, with arguments that the compiler checks.
!
!   use gravel_g6
!   if (g6_open(id) /= 0) stop 'no device'
!   ierr = g6_set_j_particle(id, address, index, tj, dtj, mass, k18, j6, a2, v, x)
!   ierr = g6_set_ti(id, ti)
!   call g6calc_firsthalf(id, nj, ni, index, xi, vi, aold, j6old, phiold, eps2, h2)
!   ierr = g6calc_lasthalf(id, nj, ni, index, xi, vi, eps2, h2, acc, jerk, pot)
!
! Codes for GRAPE-6 need no module: they call the same functions as external ones.  The header gravel/g6.h is the manual;
! addresses count from 0, sinks of neighbour lists as well.
module gravel_g6
    use, intrinsic :: iso_c_binding, only: c_int, c_double, c_float
    implicit none
    private :: c_int, c_double, c_float

    interface
        integer(c_int) function g6_open(clusterid) bind(C, name='g6_open_')
            import :: c_int
            integer(c_int), intent(in) :: clusterid
        end function
        integer(c_int) function g6_close(clusterid) bind(C, name='g6_close_')
            import :: c_int
            integer(c_int), intent(in) :: clusterid
        end function
        integer(c_int) function g6_open_special(ndev, list) bind(C, name='g6_open_special_')
            import :: c_int
            integer(c_int), intent(in) :: ndev, list(*)
        end function
        integer(c_int) function g6_npipes() bind(C, name='g6_npipes_')
            import :: c_int
        end function
        integer(c_int) function g6_get_number_of_pipelines() bind(C, name='g6_get_number_of_pipelines_')
            import :: c_int
        end function
        integer(c_int) function g6_get_nj_max() bind(C, name='g6_get_nj_max_')
            import :: c_int
        end function
        integer(c_int) function g6_getnjmax(clusterid) bind(C, name='g6_getnjmax_')
            import :: c_int
            integer(c_int), intent(in) :: clusterid
        end function
        integer(c_int) function g6_reset(clusterid) bind(C, name='g6_reset_')
            import :: c_int
            integer(c_int), intent(in) :: clusterid
        end function
        integer(c_int) function g6_reset_fofpga(clusterid) bind(C, name='g6_reset_fofpga_')
            import :: c_int
            integer(c_int), intent(in) :: clusterid
        end function
        integer(c_int) function g6_reinitialize(clusterid) bind(C, name='g6_reinitialize_')
            import :: c_int
            integer(c_int), intent(in) :: clusterid
        end function
        integer(c_int) function g6_set_j_particle(clusterid, address, index, tj, dtj, mass, k18, j6, a2, v, &
            x) bind(C, name='g6_set_j_particle_')
            import :: c_double, c_int
            integer(c_int), intent(in) :: clusterid, address, index
            real(c_double), intent(in) :: tj, dtj, mass, k18(3), j6(3), a2(3), v(3), x(3)
        end function
        integer(c_int) function g6_set_j_particle_mxonly(clusterid, address, index, mass, x) bind(C, &
            name='g6_set_j_particle_mxonly_')
            import :: c_double, c_int
            integer(c_int), intent(in) :: clusterid, address, index
            real(c_double), intent(in) :: mass, x(3)
        end function
        integer(c_int) function g6_set_j_particle_multisend_mxfast(clusterid, nclusters, address, index, mass, &
            x) bind(C, name='g6_set_j_particle_multisend_mxfast_')
            import :: c_double, c_int
            integer(c_int), intent(in) :: clusterid, nclusters, address, index
            real(c_double), intent(in) :: mass, x(3)
        end function
        integer(c_int) function g6_set_ti(clusterid, ti) bind(C, name='g6_set_ti_')
            import :: c_double, c_int
            integer(c_int), intent(in) :: clusterid
            real(c_double), intent(in) :: ti
        end function
        subroutine g6_get_predicted_j_particles(clusterid, nj, x, v) bind(C, name='g6_get_predicted_j_particles_')
            import :: c_double, c_int
            integer(c_int), intent(in) :: clusterid, nj
            real(c_double), intent(inout) :: x(3, *), v(3, *)
        end subroutine
        subroutine g6calc_firsthalf(clusterid, nj, ni, index, xi, vi, aold, j6old, phiold, eps2, h2) bind(C, &
            name='g6calc_firsthalf_')
            import :: c_double, c_int
            integer(c_int), intent(in) :: clusterid, nj, ni, index(*)
            real(c_double), intent(in) :: xi(3, *), vi(3, *), aold(3, *), j6old(3, *), phiold(*), eps2, h2(*)
        end subroutine
        integer(c_int) function g6calc_lasthalf(clusterid, nj, ni, index, xi, vi, eps2, h2, acc, jerk, pot) bind(C, &
            name='g6calc_lasthalf_')
            import :: c_double, c_int
            integer(c_int), intent(in) :: clusterid, nj, ni, index(*)
            real(c_double), intent(in) :: xi(3, *), vi(3, *), eps2, h2(*)
            real(c_double), intent(inout) :: acc(3, *), jerk(3, *), pot(*)
        end function
        integer(c_int) function g6calc_lasthalf2(clusterid, nj, ni, index, xi, vi, eps2, h2, acc, jerk, pot, &
            nnbindex) bind(C, name='g6calc_lasthalf2_')
            import :: c_double, c_int
            integer(c_int), intent(in) :: clusterid, nj, ni, index(*)
            real(c_double), intent(in) :: xi(3, *), vi(3, *), eps2, h2(*)
            real(c_double), intent(inout) :: acc(3, *), jerk(3, *), pot(*)
            integer(c_int), intent(inout) :: nnbindex(*)
        end function
        integer(c_int) function g6calc_lasthalf2p(clusterid, nj, ni, index, xi, vi, eps2, h2, acc, jerk, pot, &
            nnbindex, rnnb) bind(C, name='g6calc_lasthalf2p_')
            import :: c_double, c_float, c_int
            integer(c_int), intent(in) :: clusterid, nj, ni, index(*)
            real(c_double), intent(in) :: xi(3, *), vi(3, *), eps2, h2(*)
            real(c_double), intent(inout) :: acc(3, *), jerk(3, *), pot(*)
            integer(c_int), intent(inout) :: nnbindex(*)
            real(c_float), intent(inout) :: rnnb(*)
        end function
        integer(c_int) function g6calc_lasthalfn(clusterid, nj, ni, index, xi, vi, eps2, h2, acc, jerk, pot) bind(C, &
            name='g6calc_lasthalfn_')
            import :: c_double, c_int
            integer(c_int), intent(in) :: clusterid, nj, ni, index(*)
            real(c_double), intent(in) :: xi(3, *), vi(3, *), eps2, h2(*)
            real(c_double), intent(inout) :: acc(3, *), jerk(3, *), pot(*)
        end function
        integer(c_int) function g6calc_lasthalf2n(clusterid, nj, ni, index, xi, vi, eps2, h2, acc, jerk, pot, &
            nnbindex) bind(C, name='g6calc_lasthalf2n_')
            import :: c_double, c_int
            integer(c_int), intent(in) :: clusterid, nj, ni, index(*)
            real(c_double), intent(in) :: xi(3, *), vi(3, *), eps2, h2(*)
            real(c_double), intent(inout) :: acc(3, *), jerk(3, *), pot(*)
            integer(c_int), intent(inout) :: nnbindex(*)
        end function
        integer(c_int) function g6calc_lasthalf2np(clusterid, nj, ni, index, xi, vi, eps2, h2, acc, jerk, pot, &
            nnbindex, rnnb) bind(C, name='g6calc_lasthalf2np_')
            import :: c_double, c_float, c_int
            integer(c_int), intent(in) :: clusterid, nj, ni, index(*)
            real(c_double), intent(in) :: xi(3, *), vi(3, *), eps2, h2(*)
            real(c_double), intent(inout) :: acc(3, *), jerk(3, *), pot(*)
            integer(c_int), intent(inout) :: nnbindex(*)
            real(c_float), intent(inout) :: rnnb(*)
        end function
        integer(c_int) function g6_read_neighbour_list(clusterid) bind(C, name='g6_read_neighbour_list_')
            import :: c_int
            integer(c_int), intent(in) :: clusterid
        end function
        integer(c_int) function g6_get_neighbour_list(clusterid, ipipe, maxlength, n, list) bind(C, &
            name='g6_get_neighbour_list_')
            import :: c_int
            integer(c_int), intent(in) :: clusterid, ipipe, maxlength
            integer(c_int), intent(out) :: n
            integer(c_int), intent(inout) :: list(*)
        end function
        subroutine g6_set_neighbour_list_sort_mode(mode) bind(C, name='g6_set_neighbour_list_sort_mode_')
            import :: c_int
            integer(c_int), intent(in) :: mode
        end subroutine
        integer(c_int) function g6_get_neighbour_list_sort_mode() bind(C, name='g6_get_neighbour_list_sort_mode_')
            import :: c_int
        end function
        integer(c_int) function g6_set_tunit(unit) bind(C, name='g6_set_tunit_')
            import :: c_double, c_int
            real(c_double), intent(in) :: unit
        end function
        integer(c_int) function g6_set_xunit(unit) bind(C, name='g6_set_xunit_')
            import :: c_double, c_int
            real(c_double), intent(in) :: unit
        end function
        integer(c_int) function g6_initialize_jp_buffer(clusterid, size) bind(C, name='g6_initialize_jp_buffer_')
            import :: c_int
            integer(c_int), intent(in) :: clusterid, size
        end function
        integer(c_int) function g6_flush_jp_buffer(clusterid) bind(C, name='g6_flush_jp_buffer_')
            import :: c_int
            integer(c_int), intent(in) :: clusterid
        end function
        integer(c_int) function g6_flush_jp_buffer_and_multisend(clusterid, n) bind(C, &
            name='g6_flush_jp_buffer_and_multisend_')
            import :: c_int
            integer(c_int), intent(in) :: clusterid, n
        end function
        integer(c_int) function g6_set_overflow_flag_test_mode(aflag, jflag, pflag) bind(C, &
            name='g6_set_overflow_flag_test_mode_')
            import :: c_int
            integer(c_int), intent(in) :: aflag, jflag, pflag
        end function
        integer(c_int) function g6_print_chip_status(clusterid) bind(C, name='g6_print_chip_status_')
            import :: c_int
            integer(c_int), intent(in) :: clusterid
        end function
        subroutine g6_setup_njdata(clusterid, n) bind(C, name='g6_setup_njdata_')
            import :: c_int
            integer(c_int), intent(in) :: clusterid, n
        end subroutine
        subroutine g6_debugfunc(number) bind(C, name='g6_debugfunc_')
            import :: c_int
            integer(c_int), intent(in) :: number
        end subroutine
        subroutine g6_debugfunc_double(number) bind(C, name='g6_debugfunc_double_')
            import :: c_double
            real(c_double), intent(in) :: number
        end subroutine
        subroutine g6_dump(time, n, mass, x, v) bind(C, name='g6_dump_')
            import :: c_double, c_int
            real(c_double), intent(in) :: time, mass(*), x(3, *), v(3, *)
            integer(c_int), intent(in) :: n
        end subroutine
        integer(c_int) function g6_open_all() bind(C, name='g6_open_all_')
            import :: c_int
        end function
        integer(c_int) function g6_close_all() bind(C, name='g6_close_all_')
            import :: c_int
        end function
        integer(c_int) function g6_reset_all() bind(C, name='g6_reset_all_')
            import :: c_int
        end function
        integer(c_int) function g6_getnjmax_all() bind(C, name='g6_getnjmax_all_')
            import :: c_int
        end function
        integer(c_int) function g6_set_j_particle_all(address, index, tj, dtj, mass, k18, j6, a2, v, x) bind(C, &
            name='g6_set_j_particle_all_')
            import :: c_double, c_int
            integer(c_int), intent(in) :: address, index
            real(c_double), intent(in) :: tj, dtj, mass, k18(3), j6(3), a2(3), v(3), x(3)
        end function
        integer(c_int) function g6_set_j_particle_mxonly_all(address, index, mass, x) bind(C, &
            name='g6_set_j_particle_mxonly_all_')
            import :: c_double, c_int
            integer(c_int), intent(in) :: address, index
            real(c_double), intent(in) :: mass, x(3)
        end function
        integer(c_int) function g6_set_ti_all(ti) bind(C, name='g6_set_ti_all_')
            import :: c_double, c_int
            real(c_double), intent(in) :: ti
        end function
        subroutine g6calc_firsthalf_all(nj, ni, index, xi, vi, aold, j6old, phiold, eps2, h2) bind(C, &
            name='g6calc_firsthalf_all_')
            import :: c_double, c_int
            integer(c_int), intent(in) :: nj, ni, index(*)
            real(c_double), intent(in) :: xi(3, *), vi(3, *), aold(3, *), j6old(3, *), phiold(*), eps2, h2(*)
        end subroutine
        integer(c_int) function g6calc_lasthalf_all(nj, ni, index, xi, vi, eps2, h2, acc, jerk, pot) bind(C, &
            name='g6calc_lasthalf_all_')
            import :: c_double, c_int
            integer(c_int), intent(in) :: nj, ni, index(*)
            real(c_double), intent(in) :: xi(3, *), vi(3, *), eps2, h2(*)
            real(c_double), intent(inout) :: acc(3, *), jerk(3, *), pot(*)
        end function
        integer(c_int) function g6calc_lasthalf2_all(nj, ni, index, xi, vi, eps2, h2, acc, jerk, pot, &
            nnbindex) bind(C, name='g6calc_lasthalf2_all_')
            import :: c_double, c_int
            integer(c_int), intent(in) :: nj, ni, index(*)
            real(c_double), intent(in) :: xi(3, *), vi(3, *), eps2, h2(*)
            real(c_double), intent(inout) :: acc(3, *), jerk(3, *), pot(*)
            integer(c_int), intent(inout) :: nnbindex(*)
        end function
        integer(c_int) function g6_read_neighbour_list_all() bind(C, name='g6_read_neighbour_list_all_')
            import :: c_int
        end function
        integer(c_int) function g6_get_neighbour_list_all(ipipe, maxlength, n, list) bind(C, &
            name='g6_get_neighbour_list_all_')
            import :: c_int
            integer(c_int), intent(in) :: ipipe, maxlength
            integer(c_int), intent(out) :: n
            integer(c_int), intent(inout) :: list(*)
        end function
        subroutine g6_get_predicted_j_particles_all(nj, x, v) bind(C, name='g6_get_predicted_j_particles_all_')
            import :: c_double, c_int
            integer(c_int), intent(in) :: nj
            real(c_double), intent(inout) :: x(3, *), v(3, *)
        end subroutine
        subroutine g6calc_firsthalf0(clusterid, nj, ni, index, xi, vi, aold, j6old, phiold, eps2, h2, mode) bind(C, &
            name='g6calc_firsthalf0_')
            import :: c_double, c_int
            integer(c_int), intent(in) :: clusterid, nj, ni, index(*), mode
            real(c_double), intent(in) :: xi(3, *), vi(3, *), aold(3, *), j6old(3, *), phiold(*), eps2(*), h2(*)
        end subroutine
        subroutine g6calc_firsthalf0_all(nj, ni, index, xi, vi, aold, j6old, phiold, eps2, h2, mode) bind(C, &
            name='g6calc_firsthalf0_all_')
            import :: c_double, c_int
            integer(c_int), intent(in) :: nj, ni, index(*), mode
            real(c_double), intent(in) :: xi(3, *), vi(3, *), aold(3, *), j6old(3, *), phiold(*), eps2(*), h2(*)
        end subroutine
        integer(c_int) function g6calc_lasthalf0(clusterid, nj, ni, index, xi, vi, eps2, h2, acc, jerk, pot, &
            mode) bind(C, name='g6calc_lasthalf0_')
            import :: c_double, c_int
            integer(c_int), intent(in) :: clusterid, nj, ni, index(*), mode
            real(c_double), intent(in) :: xi(3, *), vi(3, *), eps2(*), h2(*)
            real(c_double), intent(inout) :: acc(3, *), jerk(3, *), pot(*)
        end function
        integer(c_int) function g6calc_lasthalf0_all(nj, ni, index, xi, vi, eps2, h2, acc, jerk, pot, mode) bind(C, &
            name='g6calc_lasthalf0_all_')
            import :: c_double, c_int
            integer(c_int), intent(in) :: nj, ni, index(*), mode
            real(c_double), intent(in) :: xi(3, *), vi(3, *), eps2(*), h2(*)
            real(c_double), intent(inout) :: acc(3, *), jerk(3, *), pot(*)
        end function
        integer(c_int) function g6_set_nip(clusterid, nip) bind(C, name='g6_set_nip_')
            import :: c_int
            integer(c_int), intent(in) :: clusterid, nip
        end function
        integer(c_int) function g6_set_nip_all(nip) bind(C, name='g6_set_nip_all_')
            import :: c_int
            integer(c_int), intent(in) :: nip
        end function
        integer(c_int) function g6_set_i_particle_scales_from_real_value(clusterid, address, acc, jerk, phi, &
            jfactor, ffactor) bind(C, name='g6_set_i_particle_scales_from_real_value_')
            import :: c_double, c_int
            integer(c_int), intent(in) :: clusterid, address
            real(c_double), intent(in) :: acc(3), jerk(3), phi, jfactor, ffactor
        end function
        integer(c_int) function g6_set_i_particle_scales_from_real_value_all(address, acc, jerk, phi, jfactor, &
            ffactor) bind(C, name='g6_set_i_particle_scales_from_real_value_all_')
            import :: c_double, c_int
            integer(c_int), intent(in) :: address
            real(c_double), intent(in) :: acc(3), jerk(3), phi, jfactor, ffactor
        end function
        integer(c_int) function g6_set_i_particle(clusterid, address, index, x, v, eps2, h2) bind(C, &
            name='g6_set_i_particle_')
            import :: c_double, c_int
            integer(c_int), intent(in) :: clusterid, address, index
            real(c_double), intent(in) :: x(3), v(3), eps2, h2
        end function
        integer(c_int) function g6_set_i_particle_all(address, index, x, v, eps2, h2) bind(C, &
            name='g6_set_i_particle_all_')
            import :: c_double, c_int
            integer(c_int), intent(in) :: address, index
            real(c_double), intent(in) :: x(3), v(3), eps2, h2
        end function
        integer(c_int) function g6_set_njp(clusterid, njp) bind(C, name='g6_set_njp_')
            import :: c_int
            integer(c_int), intent(in) :: clusterid, njp
        end function
        integer(c_int) function g6_set_njp_all(njp) bind(C, name='g6_set_njp_all_')
            import :: c_int
            integer(c_int), intent(in) :: njp
        end function
        integer(c_int) function g6_get_force(clusterid, acc, jerk, phi, flag) bind(C, name='g6_get_force_')
            import :: c_double, c_int
            integer(c_int), intent(in) :: clusterid
            real(c_double), intent(inout) :: acc(3, *), jerk(3, *), phi(*)
            integer(c_int), intent(inout) :: flag(*)
        end function
        integer(c_int) function g6_get_force_all(acc, jerk, phi, flag) bind(C, name='g6_get_force_all_')
            import :: c_double, c_int
            real(c_double), intent(inout) :: acc(3, *), jerk(3, *), phi(*)
            integer(c_int), intent(inout) :: flag(*)
        end function
        integer(c_int) function g6_get_force_etc(clusterid, acc, jerk, phi, nnbindex, flag) bind(C, &
            name='g6_get_force_etc_')
            import :: c_double, c_int
            integer(c_int), intent(in) :: clusterid
            real(c_double), intent(inout) :: acc(3, *), jerk(3, *), phi(*)
            integer(c_int), intent(inout) :: nnbindex(*), flag(*)
        end function
        integer(c_int) function g6_get_force_etc_all(acc, jerk, phi, nnbindex, flag) bind(C, &
            name='g6_get_force_etc_all_')
            import :: c_double, c_int
            real(c_double), intent(inout) :: acc(3, *), jerk(3, *), phi(*)
            integer(c_int), intent(inout) :: nnbindex(*), flag(*)
        end function
    end interface
end module gravel_g6
