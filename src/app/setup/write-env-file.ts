import { readFile } from 'node:fs/promises';
import { AppError } from '#kernel/errors/app-error.ts';
import { replacePrivateFile, writePrivateFile } from '#kernel/private-file.ts';

/** Maximum number of copies that are kept beside each other: an operator who needs more has lost the overview. */
const copiesMax = 100;

/** The text of the file. Null: there is no such file. Throws `config_invalid` if it cannot be read. */
export async function readEarlierFile(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const { code = 'unknown reason' } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    throw new AppError('config_invalid', `${path} cannot be read (${code})`, {}, error);
  }
}

/**
 * Writes the file with mode 0600, completely or not at all. An earlier text is kept in a copy first. Returns the name
 * of the copy, or null if there was no earlier file. Throws `output_failed`, also if the file appeared or changed meanwhile.
 */
export async function writeEnvFile(
  path: string,
  text: string,
  earlier: string | null,
): Promise<string | null> {
  try {
    if (earlier === null) {
      if (await writePrivateFile(path, text)) return null;
      throw changedMeanwhile(path);
    }
    if ((await readEarlierFile(path)) !== earlier) throw changedMeanwhile(path);
    const copy = await keepCopy(path, earlier);
    await replacePrivateFile(path, text);
    return copy;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (error instanceof AppError || code === undefined) throw error;
    throw new AppError('output_failed', `${path} cannot be written (${code}).`, {}, error);
  }
}

const changedMeanwhile = (path: string): AppError =>
  new AppError('output_failed', `${path} was changed by another program meanwhile, and is left as it is.`);

async function keepCopy(path: string, earlier: string): Promise<string> {
  for (let number = 1; number <= copiesMax; number++) {
    const copy = `${path}.old-${number}`;
    if (await writePrivateFile(copy, earlier)) return copy;
  }
  throw new AppError(
    'output_failed',
    `There are ${copiesMax} copies of ${path} already: remove old ones first.`,
  );
}
