/** Why a runtime started nothing, in its own words, and what to do. */

const MOST_CHARACTERS = 600;

const advice: readonly [RegExp, string][] = [
  [
    /no such image|image not known|unable to find image|image .*not found/i,
    'Load or pull the image first: nothing is fetched here.',
  ],
  [
    /cannot connect to the docker daemon|connection refused|no such file.*(docker|containerd)\.sock/i,
    'Start its daemon.',
  ],
  [
    /permission denied.*\.sock|dial unix.*permission denied|operation not permitted|permission denied/i,
    'Give this user access to the runtime, or give what it lacks with args and runtimeOptions (docs/systems.md, Containers).',
  ],
  [
    /unresolvable CDI devices/i,
    'Make the CDI specification with nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml.',
  ],
  [/could not select device driver|unknown runtime/i, 'Install the NVIDIA container toolkit, or use gpu: cdi.'],
  [
    /GLIBC|GLIBCXX|cannot open shared object|no such file or directory|not in the image/i,
    'The image needs glibc 2.28 or newer and libstdc++, which Node needs.',
  ],
];

export function refusalOf(how: string, lines: readonly string[]): string {
  const said = lines.join(' | ').slice(-MOST_CHARACTERS);
  const [, help = 'Start a container with the same options by hand.'] =
    advice.find(([pattern]) => pattern.test(`${said} ${how}`)) ?? [];
  return `the container ${how}${said === '' ? '' : `: ${said.replace(/\.$/, '')}`}. ${help}`;
}
