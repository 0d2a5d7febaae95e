import { readFileSync } from 'node:fs';

const packageFile = new URL('../../../package.json', import.meta.url);

/** Version of this program, as package.json has it. */
export const version = (JSON.parse(readFileSync(packageFile, 'utf8')) as { version: string }).version;
