# The first process of a private Slurm, in a process namespace of its own: all others end with it. It ends when its stdin
# does, which is when the test has ended, however that was.
# Usage: cluster.sh FOLDER NODE...
set -eu
folder=$1
shift
export SLURM_CONF="$folder/etc/slurm.conf"
munge="$folder/munge"
munged --force --socket="$munge/socket" --key-file="$munge/key" --pid-file="$munge/pid" --log-file="$munge/log" \
  --seed-file="$munge/seed"
slurmctld -D >"$folder/log/slurmctld" 2>&1 &
for node; do
  sh "$(dirname "$0")/node.sh" "$folder" "$node" 2>>"$folder/log/$node" &
done
exec cat >/dev/null
