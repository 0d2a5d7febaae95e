import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';

const names = ['chromium', 'chromium-browser', 'google-chrome'];

/** A browser of the machine: the one that CHROMIUM names, or one on the path; null where there is none. */
function findChromium(): string | null {
  const given = process.env['CHROMIUM'];
  if (given !== undefined && given !== '') return given;
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const paths = names.flatMap((name) => folders.map((folder) => join(folder, name)));
  return paths.find(isExecutable) ?? null;
}

/**
 * The browser for a suite, or null where the machine has none: said in one line, and a failure with CI=true, so that the
 * tests of the page are never left out unseen.
 */
export function browserForTests(): string | null {
  const executable = findChromium();
  if (executable !== null) return executable;
  const words = 'chromium is missing: the tests of the page are skipped (scripts/install-chromium.sh)';
  if (process.env['CI'] === 'true') throw new Error(words);
  process.stderr.write(`${words}\n`);
  return null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Headless, and silent on the network: nothing but what the pages under test ask for. */
export async function launchChromium(executablePath: string): Promise<Browser> {
  return chromium.launch({
    executablePath,
    args: [
      // the sandbox of the system needs an ordinary account; tests run as root too
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}
