#!/bin/sh
# Runs when all tasks have ended: checks what was delivered, and reports. Written by gpu-virt-bench 0.1.0 for fleet 2026-01-01-0123abcd.
#SBATCH --job-name=gvb-2026-01-01-0123abcd-merge
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --no-requeue
#SBATCH --export=NONE
#SBATCH --output=/shared/fleet/logs/%x-%j.log
#SBATCH --partition=gpu
#SBATCH --account=lab
#SBATCH --time=00:30:00
#SBATCH --constraint=h100&nvlink
#SBATCH --mail-type=NONE
unset LD_PRELOAD LD_AUDIT
# A report that is cancelled leaves no half of a file.
tidy() { rm -f /shared/fleet/.report.*.tmp; }
trap tidy EXIT
trap 'exit 143' TERM
# Names what is missing; the report is made of what there is.
/opt/node /opt/gvb/dist/cli/main.js fleet collect /shared/fleet || echo "fleet collect: exit code $?"
/opt/node /opt/gvb/dist/cli/main.js fleet report /shared/fleet --json /shared/fleet/report.json --html /shared/fleet/report.html
