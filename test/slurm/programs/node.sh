# Starts a node of the cluster in namespaces of its own: to kill its first process is to lose the node.
# FOLDER/local, which every job sees, is what FOLDER/nodes/NODE is elsewhere.
# Usage: node.sh FOLDER NODE
set -eu
exec unshare --pid --fork --kill-child --mount --mount-proc sh -c '
  # A machine that starts again has another one, by which files of ended processes are known.
  tr -dc 0-9a-f </dev/urandom | head -c 36 >"$1/nodes/$2/boot-id"
  mount --bind "$1/nodes/$2/boot-id" /proc/sys/kernel/random/boot_id
  mount --bind "$1/nodes/$2" "$1/local"
  # Its processes see none of other namespaces, and would take the simulated cards of those for abandoned.
  mount -t tmpfs tmpfs /dev/shm
  export SLURM_CONF="$1/etc/slurm.conf"
  slurmd -D -N "$2" >>"$1/log/$2" 2>&1 &
  # Reaps what is left to it, as the first process of a machine does.
  while :; do wait; sleep 1; done' node-of-gvb-test "$1" "$2"
