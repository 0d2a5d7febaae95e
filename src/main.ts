import { keepCompiledCode } from './compiled-code.ts';
import { loadingInSmallSpace } from './kernel/process/new-space.ts';

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
  const { runCommandLine } = await loadingInSmallSpace(() => import('./command-line.ts'));
  await runCommandLine(process.argv.slice(2));
}
