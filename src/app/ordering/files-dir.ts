import { join } from 'node:path';
import type { CommandContext } from '#src/app/command-context.ts';

/** The folder that contains the files of customers. */
export const filesDirOf = ({ filesDir, dataDir }: CommandContext['config']): string =>
  filesDir ?? join(dataDir, 'files');
