#!/bin/sh
# One task: measures on one node and delivers. Written by gpu-virt-bench 0.1.0 for fleet 2026-01-01-0123abcd.
#SBATCH --job-name=gvb-2026-01-01-0123abcd
#SBATCH --gres=gpu:h100:1
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --no-requeue
#SBATCH --export=NONE
#SBATCH --output=/shared/fleet/logs/%x-%j.log
unset LD_PRELOAD LD_AUDIT
exec /opt/node /opt/gvb/dist/cli/main.js fleet node --plan /shared/fleet --index "${1:-$SLURM_ARRAY_TASK_ID}"
