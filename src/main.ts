import { mkdirSync, statSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';
import { restartWithMemoryBounds } from './kernel/process/memory-bounds.ts';

/**
 * The cache is next to the code from which it is compiled. Anyone who can write to the cache could also change that
 * code.
 */
const cacheFolder = fileURLToPath(new URL('../node_modules/.cache', import.meta.url));
const folder = `${cacheFolder}/compiled`;

/**
 * Keeps the modules that Node compiled (types stripped) on disk for later starts. This saves half of the processor time
 * of a start. The modules are in the folder of NODE_COMPILE_CACHE if that variable is set. Without a writable folder,
 * every start compiles again. NODE_DISABLE_COMPILE_CACHE=1 switches the cache off.
 */
function keepCompiledCode(): void {
  // Node itself would try forever to make a folder below a path that cannot have entries, like a broken link
  if (!isFolder(cacheFolder) || !isFolder(folder)) return;
  enableCompileCache(folder);
  // threads inherit the environment, but not the call above
  // oxlint-disable-next-line node/no-process-env -- a variable of Node's own, and nothing else is loaded yet
  process.env['NODE_COMPILE_CACHE'] ??= folder;
}

/** Whether a folder exists, or could be made. */
function isFolder(path: string): boolean {
  try {
    mkdirSync(path);
  } catch {
    // the folder exists, or cannot be made
  }
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/**
 * Lowest major version of Node. Some older versions strip types and reach this line, but lack functions that the
 * program calls.
 */
const leastNode = 24;

/** Commands that run for long or read much. Their memory is bounded. */
const longCommands: ReadonlySet<string | undefined> = new Set(['serve', 'demo', 'index', 'search']);

if (Number.parseInt(process.versions.node, 10) < leastNode) {
  process.stderr.write(
    `satscribe: Node ${leastNode} is needed, but this is Node ${process.versions.node}. npm ci installs it (node_modules/node/bin), and npm run -s satscribe uses it\n`,
  );
  process.exitCode = 2;
} else {
  // both must run before the modules of the program are loaded
  if (longCommands.has(process.argv[2])) restartWithMemoryBounds();
  keepCompiledCode();
  try {
    const { runCommandLine } = await import('./command-line.ts');
    await runCommandLine(process.argv.slice(2));
  } catch (error) {
    // a package is missing or was built for another system; the command line itself reports all other failures
    const { report } = await import('./commands/report-error.ts');
    process.exitCode = report(error);
  }
}
