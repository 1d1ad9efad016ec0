#!/bin/sh
# One task: measures on one node and delivers. Written by gpu-virt-bench 0.1.0 for fleet 2026-01-01-0123abcd.
#SBATCH --job-name=gvb-2026-01-01-0123abcd
#SBATCH --exclusive
#SBATCH --gres=gpu:1
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
export HF_HOME='/data/it'\''s here'
exec srun --export=ALL --container-image=docker://lab/gvb:1 --container-mounts=/shared/fleet:/shared/fleet gpu-virt-bench fleet node --plan /shared/fleet --index "${1:-$SLURM_ARRAY_TASK_ID}"
