/** Examples at the end of each command's help. A test parses every one. */
import type { Command } from 'commander';

/** Examples of each command as shell words, without the program's name. */
export const helpExamples: Readonly<Record<string, readonly string[]>> = {
  run: ['run OH-001 START-002', 'run --for serving', "run 'IS-*' --tier standard --json run.json --html run.html"],
  list: ['list', 'list --json metrics.json'],
  doctor: ['doctor', 'doctor --json -'],
  compare: [
    'compare --for serving --budget 1h --system native --system hami-core:library=/path/libvgpu.so,memory=10GiB,sm=50',
    'compare --config systems.yaml --detect 5% --gate thresholds.yaml --output results/today',
    'compare --resume results/today',
  ],
  exec: [
    'exec --system native --system hami-core:library=/path/libvgpu.so,memory=10GiB -- python infer.py',
    'exec --warmup 1 --iterations 3 --env HF_HOME --name llama -- python infer.py --batch 8',
    'exec --config workloads.yaml --gate thresholds.yaml --output results/programs',
  ],
  load: [
    "load http://127.0.0.1:8000/v1/chat/completions --api chat --model my-model --prompt 'Story {request}' --concurrency 8",
    "load https://example.org/v1/completions --api completions --model m --prompt '{request}' --rate-per-second 4 --requests 300",
    'load http://127.0.0.1:9000/health --requests 1000 --under native --json health.json',
  ],
  profile: [
    'profile -- python decode.py',
    'profile --from 30 --for 10 --output decode.json -- python serve.py --port 8000',
    "profile --marks --name decode --origin 'an 8B model, batch 1' -- python decode.py",
  ],
  monitor: ['monitor', 'monitor --interval 1s --duration 10min --csv gpu.csv', 'monitor --device 0 --json'],
  report: [
    'report results/today --html today.html',
    'report results/metrics results/server --html serving.html',
    'report results/today --profile profile.json',
  ],
  gate: ['gate results/today --config thresholds.yaml --junit gate.xml', 'gate --baseline main'],
  baseline: ['baseline save main results/today', 'baseline list'],
  'baseline save': ['baseline save main', 'baseline save main results/today --force'],
  'baseline promote': ['baseline promote main results/today --config thresholds.yaml'],
  'baseline list': ['baseline list --json'],
  'baseline remove': ['baseline remove main'],
  history: ['history OH-001', 'history overhead --results nightly --limit 10'],
  fleet: ['fleet slurm --output /shared/fleet --partition gpu --submit', 'fleet report fleet --html fleet.html'],
  'fleet report': [
    'fleet report fleet --html fleet.html --json fleet.json',
    "fleet report fleet --limit OH-001=6 --limit 'PCIE-*=20%'",
    'fleet report fleet --node n17',
  ],
  'fleet slurm': [
    'fleet slurm --output /shared/fleet --partition gpu --submit',
    "fleet slurm --output /shared/fleet --nodelist 'gpu[01-16]' -- compare overhead --system native --system hami-core:library=/opt/libvgpu.so,memory=10GiB",
    "fleet slurm OH-001 'BW-*' --output /shared/fleet --nodes 8 --account lab --time 30 --container-image /images/gvb.sqsh",
  ],
  'fleet kubernetes': [
    'fleet kubernetes --output fleet --image registry.example/gpu-virt-bench:0.1.0 --nodes 16 --submit',
    "fleet kubernetes OH-001 'BW-*' --output fleet --image localhost/gpu-virt-bench:0.1.0 --nodelist gpu-1,gpu-2 --runtime-class nvidia --toleration nvidia.com/gpu:NoSchedule",
  ],
  'fleet submit': ['fleet submit /shared/fleet', 'fleet submit /shared/fleet --refused'],
  'fleet status': ['fleet status /shared/fleet', 'fleet status /shared/fleet --json status.json'],
  'fleet collect': ['fleet collect /shared/fleet', 'fleet collect fleet --from pods.log'],
  'fleet node': ['fleet node --plan fleet --index 3', 'fleet node --plan /shared/fleet --deliver stdout'],
  study: ['study studies/mps-restore', 'study studies/hami-and-fcsp --set hami=/opt/libvgpu.so --output results/hami'],
  calibrate: ['calibrate --simulate', 'calibrate --tier quick --json calibration.json'],
  init: ['init', 'init gpu-gate'],
};

export function addHelpExamples(command: Command, parents: readonly string[] = []): void {
  for (const each of command.commands) {
    const names = [...parents, each.name()];
    const examples = helpExamples[names.join(' ')] ?? [];
    each.addHelpText('after', ['', 'Examples:', ...examples.map((text) => `  gpu-virt-bench ${text}`)].join('\n'));
    addHelpExamples(each, names);
  }
}
