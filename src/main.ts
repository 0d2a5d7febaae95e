import { mkdirSync, statSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';
import { loadingInSmallSpace } from './kernel/process/new-space.ts';

/** Beside the code that it is made of: who may write there could change that code as well. */
const cacheFolder = fileURLToPath(new URL('../node_modules/.cache', import.meta.url));
const folder = `${cacheFolder}/compiled`;

/**
 * Keeps what Node makes of the modules (types stripped, compiled) on disk, for later starts: half of the processor
 * time of a start. In the folder of NODE_COMPILE_CACHE where that is set; where there is no writable folder, every
 * start compiles again. NODE_DISABLE_COMPILE_CACHE=1 switches it off.
 */
function keepCompiledCode(): void {
  // Node itself would try for ever to make a folder below one that has no entries, like a link to nothing
  if (!isFolder(cacheFolder) || !isFolder(folder)) return;
  enableCompileCache(folder);
  // threads do not share the call above, but the environment
  // oxlint-disable-next-line node/no-process-env -- a variable of Node's own, and nothing else is loaded yet
  process.env['NODE_COMPILE_CACHE'] ??= folder;
}

/** Whether a folder is there, or could be made. */
function isFolder(path: string): boolean {
  try {
    mkdirSync(path);
  } catch {
    // it is there, or cannot be made
  }
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Older ones that strip types come this far, and lack what the program calls. */
const leastNode = 24;

if (Number.parseInt(process.versions.node, 10) < leastNode) {
  process.stderr.write(
    `satscribe: this is Node ${process.versions.node}, and Node ${leastNode} is needed: npm ci brings it (node_modules/node/bin), and npm run -s satscribe uses it\n`,
  );
  process.exitCode = 2;
} else {
  // before the modules of the program are loaded
  keepCompiledCode();
  try {
    const { runCommandLine } = await loadingInSmallSpace(() => import('./command-line.ts'));
    await runCommandLine(process.argv.slice(2));
  } catch (error) {
    // a package is missing, or made for another system: the command line tells all else itself
    const { report } = await import('./commands/report-error.ts');
    process.exitCode = report(error);
  }
}
