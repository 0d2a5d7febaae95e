import { loadConfig } from '#config/config.ts';
import { createLifecycle } from '#kernel/process/lifecycle.ts';
import { createHealth } from '#kernel/reports/health.ts';
import { createLogger } from '#kernel/reports/logger.ts';
import { parseCommandLine } from '#src/cli.ts';

/**
 * Runs a command of `satscribe` in this process, and returns its output. Throws the command's errors. A separate
 * process (`runCli`) shows how errors are reported, but takes a second longer.
 */
export async function runCommand(words: readonly string[], env: Record<string, string>): Promise<string> {
  const line = parseCommandLine(words);
  if (line.kind === 'help') return line.text;
  const { command, flags, settings, words: operands } = line;
  const prepared = command.prepare?.({ flags, settings, env }) ?? { settings, defaults: {} };
  const config = loadConfig({ env, flags: prepared.settings, defaults: prepared.defaults });
  const lifecycle = createLifecycle();
  let output = '';
  try {
    await command.run({
      config,
      flags,
      words: operands,
      lifecycle,
      health: createHealth(),
      logger: createLogger('silent'),
      print: async (text) => {
        output += text;
      },
    });
  } finally {
    await lifecycle.stop('done');
  }
  return output;
}
