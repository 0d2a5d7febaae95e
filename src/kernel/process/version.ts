import { readFileSync } from 'node:fs';

const packageFile = new URL('../../../package.json', import.meta.url);

/** Version of this program in package.json. */
export const version = (JSON.parse(readFileSync(packageFile, 'utf8')) as { version: string }).version;
