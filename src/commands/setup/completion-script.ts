import { type SettingName, settings } from '#config/config.ts';
import type { Command, CommandFlag } from '#src/app/command-context.ts';

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

/** Words after the name of a command: its objects, or its actions. */
export const wordsOf = ({ object, operands, actions }: Command): readonly string[] =>
  actions ?? (object ?? operands ?? '').split('|').filter((word) => /^[a-z][a-z-]*$/u.test(word));

/** Allowed values of a flag. Empty: any value. */
export function valuesOf({ setting }: CommandFlag): readonly string[] {
  const values = settings.find(({ name }: { name: SettingName }) => name === setting)?.values ?? '';
  return values.startsWith('one of ') ? values.slice('one of '.length).split(', ') : [];
}

const takesFile = ({ value }: CommandFlag): boolean => value === 'FILE' || value === 'DIR';

/** The script that a shell reads to complete commands. All words come from the table of commands. */
export function completionScript(shell: Shell, commands: readonly Command[]): string {
  if (shell === 'fish') return fishScript(commands);
  const start = shell === 'zsh' ? 'autoload -U +X bashcompinit && bashcompinit\n' : '';
  return start + bashScript(commands);
}

function bashScript(commands: readonly Command[]): string {
  const names = [...commands.map(({ name }) => name), 'help', '--help', '--version'];
  return `_satscribe() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} command=\${COMP_WORDS[1]}
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '${names.join(' ')}' -- "$word"))
    return
  fi
  case "$command $before" in
    'help help') COMPREPLY=($(compgen -W '${commands.map(({ name }) => name).join(' ')}' -- "$word")); return ;;
${commands.flatMap(bashValues).join('\n')}
  esac
  case "$command" in
${commands.map(bashWords).join('\n')}
  esac
}
complete -F _satscribe satscribe
`;
}

/** Cases for the values of the flags of a command. */
const bashValues = (command: Command): string[] =>
  command.flags
    .filter(({ value }) => value !== null)
    .map((flag) => {
      const found = takesFile(flag) ? '-f' : `-W '${valuesOf(flag).join(' ')}'`;
      return `    '${command.name} --${flag.name}') COMPREPLY=($(compgen ${found} -- "$word")); return ;;`;
    });

function bashWords(command: Command): string {
  const words = [...wordsOf(command), ...command.flags.map(({ name }) => `--${name}`), '--help'];
  return `    ${command.name}) COMPREPLY=($(compgen -W '${words.join(' ')}' -- "$word")) ;;`;
}

/** A text within the single quotes of fish. */
const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

function fishScript(commands: readonly Command[]): string {
  const lines = commands.flatMap((command) => {
    const of = `complete -c satscribe -n '__fish_seen_subcommand_from ${command.name}'`;
    const words = wordsOf(command);
    return [
      `complete -c satscribe -f -n __fish_use_subcommand -a ${command.name} -d ${quoted(command.summary)}`,
      ...(words.length === 0 ? [] : [`${of} -f -a '${words.join(' ')}'`]),
      ...command.flags.map((flag) => {
        const values = valuesOf(flag).length === 0 ? '' : ` -a '${valuesOf(flag).join(' ')}'`;
        const taken = flag.value === null ? '' : takesFile(flag) ? ' -r -F' : ` -x${values}`;
        return `${of} -l ${flag.name}${taken} -d ${quoted(flag.description)}`;
      }),
    ];
  });
  return `complete -c satscribe -f\n${lines.join('\n')}\n`;
}
