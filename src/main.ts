import { keepCompiledCode } from './compiled-code.ts';

// before the modules of the program are loaded
keepCompiledCode();
const { runCommandLine } = await import('./command-line.ts');
await runCommandLine(process.argv.slice(2));
