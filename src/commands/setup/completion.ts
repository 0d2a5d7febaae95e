import type { Command } from '#src/app/command-context.ts';
import { completionScript, shells } from './completion-script.ts';

/** Prints a script that completes the commands of the table, which is read when the command runs. */
export const completionCommand = (commands: () => readonly Command[]): Command => ({
  name: 'completion',
  object: shells.join('|'),
  summary: 'print the script that completes commands in a shell',
  details: `Completes commands, their objects and actions, flags, allowed values and files. The script completes the word
satscribe: an alias of that name, or a link to it on the path (docs/install.md).

  source <(satscribe completion bash)                                       # in ~/.bashrc
  source <(satscribe completion zsh)                                        # in ~/.zshrc, after compinit
  satscribe completion fish > ~/.config/fish/completions/satscribe.fish`,
  flags: [],
  run: async ({ words, print }) => {
    const shell = shells.find((name) => name === words[0]) ?? 'bash';
    await print(completionScript(shell, commands()), 'exact');
  },
});
