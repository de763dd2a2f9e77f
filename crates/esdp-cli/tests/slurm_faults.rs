//! What goes wrong on a Slurm cluster, on a real one: each fault ends in a line of the log that says what
//! happened, and in a ledger that agrees with Slurm's own records line by line.

mod slurm_bed;

use slurm_bed::Bed;

#[test]
fn a_node_is_lost_in_the_middle_of_a_job() {
    let mut bed = Bed::new(3);
    bed.start_driver();
    // Without srun, which would tell of a failure before Slurm has given the node up.
    let lost = bed.submit(&["-N2"], "sleep 300");
    let nodes = bed.wait_for(lost, "running");
    bed.cluster.kill_node(&nodes[1]);
    bed.wait_for(lost, "learned");
    bed.wait_for_log(&["ended", &format!("job=\"{lost}\""), "NODE_FAIL"]);
    assert!(
        bed.lines_of(lost).iter().any(|(event, _, detail)| event == "learned" && detail.starts_with("0 of"))
    );
    // What comes later goes to the nodes that are left.
    let next = bed.submit(&["-N2"], "true");
    let used = bed.wait_for(next, "ended");
    assert!(!used.contains(&nodes[1]), "{used:?}");
    bed.wait_for_log(&["takes nothing new", &nodes[1]]);
    bed.assert_agreement(&[lost, next]);
}

#[test]
fn the_controller_is_restarted() {
    let mut bed = Bed::new(2);
    bed.start_driver();
    let before = bed.submit(&["-N2"], "sleep 6");
    bed.wait_for(before, "running");
    bed.cluster.stop_controller();
    bed.wait_for_log(&["this turn ended early"]);
    bed.cluster.start_controller().expect("a controller");
    let after = bed.submit(&["-N2"], "sleep 1");
    bed.wait_for(after, "ended");
    bed.wait_for(before, "learned");
    bed.assert_agreement(&[before, after]);
}

#[test]
fn the_driver_is_killed_at_random_moments() {
    let mut bed = Bed::new(4);
    let report = "exec srun --ntasks-per-node=1 bash -c 'f=$R/$SLURM_JOB_ID.$SLURMD_NODENAME.report; \
                  echo start $EPOCHREALTIME > $f; sleep 0.4; echo end $EPOCHREALTIME 1 >> $f'";
    let script = format!("export R={}; {report}", bed.path("reports").display());
    let jobs: Vec<u64> = (0..10).map(|_| bed.submit(&["-N2", "-c2"], &script)).collect();
    // Times that look random and are the same in every run: of a few milliseconds up to a whole turn and
    // more.
    let mut millis = 40u64;
    for _ in 0..400 {
        bed.start_driver();
        std::thread::sleep(std::time::Duration::from_millis(millis));
        if jobs.iter().all(|&job| bed.nodes_of(job, "learned").is_some()) {
            break;
        }
        bed.kill_driver();
        millis = 40 + (millis * 7919 + 13) % 1460;
    }
    bed.wait("all jobs to be learned", |bed| jobs.iter().all(|&job| bed.nodes_of(job, "learned").is_some()));
    bed.wait_for_log(&["goes on where a driver before it ended"]);
    bed.assert_agreement(&jobs);
    // Nothing was learned twice and nothing was forgotten: ten jobs have told of two nodes each.
    bed.kill_driver();
    let journal = bed.path("data");
    let state = slurm_bed::said({
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_esdp"));
        command.args(["journal", "show", "--data"]).arg(&journal);
        command
    });
    let reported = state.lines().filter(|line| line.contains("reported") && line.contains("work")).count();
    assert_eq!(reported, 20, "{state}");
}

#[test]
fn a_drained_node_gets_nothing() {
    let mut bed = Bed::new(2);
    bed.start_driver();
    let before = bed.submit(&["-N2", "-c1"], "sleep 5");
    bed.wait_for(before, "running");
    bed.scontrol(&["update", "nodename=n0", "state=drain", "reason=test"]);
    bed.wait_for_log(&["takes nothing new", "n0", "DRAIN"]);
    let jobs: Vec<u64> = (0..3).map(|_| bed.submit(&["-N1", "-c1"], "sleep 1")).collect();
    for &job in &jobs {
        assert_eq!(bed.wait_for(job, "ended"), ["n1"]);
    }
    // What runs there is left to end.
    assert_eq!(bed.wait_for(before, "ended"), ["n0", "n1"]);
    bed.scontrol(&["update", "nodename=n0", "state=resume"]);
    bed.wait_for_log(&["takes jobs again", "n0"]);
    let both = bed.submit(&["-N2"], "true");
    assert_eq!(bed.wait_for(both, "ended"), ["n0", "n1"]);
    bed.assert_agreement(&[&[before], &jobs[..], &[both]].concat());
}

#[test]
fn owners_cancel_and_release_their_jobs() {
    let mut bed = Bed::new(2);
    bed.start_driver();
    let first = bed.submit(&["-N2", "-c4"], "sleep 300");
    bed.wait_for(first, "running");
    let (cancelled, released) = (bed.submit(&["-N2", "-c4"], "true"), bed.submit(&["-N2", "-c4"], "sleep 1"));
    for (program, arguments) in [
        ("scancel", vec![cancelled.to_string()]),
        ("scontrol", vec!["release".to_owned(), released.to_string()]),
        // It runs and holds both nodes; the one that was released starts after it.
        ("scancel", vec![first.to_string()]),
    ] {
        let mut command = bed.as_owner(program);
        command.args(arguments);
        slurm_bed::said(command);
    }
    bed.wait_for_log(&["ended", &format!("job=\"{first}\""), "CANCELLED"]);
    bed.wait_for_log(&["its owner has released it", &format!("job=\"{released}\"")]);
    for job in [first, cancelled, released] {
        bed.wait_for(job, "learned");
    }
    assert_eq!(bed.nodes_of(released, "decided"), None);
    bed.assert_agreement(&[first, cancelled, released]);
}

#[test]
fn an_owner_wants_other_nodes_between_our_update_and_our_release() {
    let mut bed = Bed::new(3);
    bed.scontrol(&["update", "nodename=n2", "state=drain", "reason=test"]);
    // Decided for n0 and n1, since nothing else is open; by the time of the release, the owner wants n1 and
    // n2.
    bed.meddle(
        "release",
        "$real update nodename=n2 state=resume; owner $real update jobid=$job nodelist=n1,n2",
    );
    bed.start_driver();
    let job = bed.submit(&["-N2"], "sleep 1");
    assert_eq!(bed.wait_for(job, "ended"), ["n1", "n2"]);
    bed.wait_for_log(&["left to Slurm and its owner", &format!("job=\"{job}\"")]);
    assert_eq!(
        (bed.nodes_of(job, "decided").unwrap(), bed.nodes_of(job, "running")),
        (vec!["n0".into(), "n1".into()], None)
    );
    bed.assert_agreement(&[job]);
}

#[test]
fn slurm_refuses_a_list_of_nodes() {
    let mut bed = Bed::new(2);
    bed.meddle("nodelist=", "order=${order/nodelist=n/nodelist=gone}");
    bed.start_driver();
    let job = bed.submit(&["-N2"], "sleep 1");
    bed.wait_for_log(&["Slurm refuses the nodes", "Invalid node name"]);
    bed.wait_for(job, "learned");
    assert!(bed.nodes_of(job, "retracted").is_some());
    assert_eq!(bed.nodes_of(job, "running").unwrap(), ["n0", "n1"]);
    bed.assert_agreement(&[job]);
}

#[test]
fn an_owner_excludes_a_node_between_our_update_and_our_release() {
    let mut bed = Bed::new(3);
    bed.scontrol(&["update", "nodename=n2", "state=drain", "reason=test"]);
    bed.meddle(
        "release",
        "$real update nodename=n2 state=resume; owner $real update jobid=$job excnodelist=n0",
    );
    bed.start_driver();
    let job = bed.submit(&["-N2"], "sleep 1");
    // A node that is asked for and excluded: 22.05 calls that bad constraints once it has looked at the job,
    // which on a busy machine may be after our patience has ended; with later versions the job just waits.
    bed.wait_for_log(&["it is taken back", &format!("job=\"{job}\"")]);
    bed.wait_for_log(&["it excludes nodes itself: n0", &format!("job=\"{job}\"")]);
    assert_eq!(bed.wait_for(job, "ended"), ["n1", "n2"]);
    assert_eq!(bed.nodes_of(job, "retracted").unwrap(), ["n0", "n1"]);
    bed.wait_for(job, "learned");
    bed.assert_agreement(&[job]);
}

#[test]
fn a_job_with_bad_constraints_starts_by_itself() {
    let mut bed = Bed::new(3);
    // More nodes than the job may have: 22.05 calls that bad constraints, and starts the job by itself the
    // moment they are good; later versions take some of them. While no driver looks: it finds the job
    // running.
    let own = bed.submit(&["-N2"], "sleep 6");
    let id = own.to_string();
    bed.scontrol(&["update", &format!("jobid={id}"), "nodelist=n0,n1,n2"]);
    bed.scontrol(&["release", &id]);
    let squeue = |bed: &Bed, format: &str| {
        let mut command = bed.cluster.command("squeue");
        command.args(["--noheader", format, "--job", &id]);
        slurm_bed::said(command).trim().to_owned()
    };
    if bed.release() < (23, 2) {
        bed.wait("bad constraints", |bed| squeue(bed, "--format=%r") == "BadConstraints");
        bed.scontrol(&["update", &format!("jobid={id}"), "nodelist=n1,n2"]);
    }
    bed.wait("it starts by itself", |bed| squeue(bed, "--format=%T") == "RUNNING");
    bed.start_driver();
    bed.wait_for_log(&["its owner has released it", &format!("job=\"{own}\"")]);
    assert_eq!(bed.wait_for(own, "ended").len(), 2);
    bed.assert_agreement(&[own]);
}

#[test]
fn a_job_that_does_not_start_is_taken_back_and_placed_elsewhere() {
    let mut bed = Bed::new(3);
    bed.scontrol(&["update", "nodename=n2", "state=drain", "reason=test"]);
    // Another job takes a node between the decision for n0 and n1 and the release.
    let other = "sbatch --output=/dev/null --chdir=/tmp -w n0 -c4 --wrap 'sleep 300' >/dev/null; sleep 1; \
                 $real update nodename=n2 state=resume";
    bed.meddle("release", other);
    bed.start_driver();
    let job = bed.submit(&["-N2", "-c4"], "sleep 1");
    bed.wait_for_log(&["did not start in time", &format!("job=\"{job}\"")]);
    assert_eq!(bed.wait_for(job, "ended"), ["n1", "n2"]);
    assert_eq!(bed.nodes_of(job, "retracted").unwrap(), ["n0", "n1"]);
    let mut cancel = bed.cluster.command("scancel");
    cancel.arg((job + 1).to_string());
    slurm_bed::said(cancel);
    bed.wait_for(job + 1, "learned");
    bed.assert_agreement(&[job, job + 1]);
}
