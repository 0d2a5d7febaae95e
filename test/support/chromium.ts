import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { isExecutable, orSayWhy } from '#test/support/find-program.ts';

const names = ['chromium', 'chromium-browser', 'google-chrome'];

/** A browser of the machine: the one that CHROMIUM names, or one on the path; null: there is none. */
function findChromium(): string | null {
  const given = process.env['CHROMIUM'];
  if (given !== undefined && given !== '') return given;
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const paths = names.flatMap((name) => folders.map((folder) => join(folder, name)));
  return paths.find(isExecutable) ?? null;
}

/**
 * The browser for a suite; null if the machine has none, which is said in one line and is a failure with CI=true, so
 * that tests of pages are never skipped unnoticed.
 */
export function browserForTests(): string | null {
  return orSayWhy(
    findChromium(),
    'chromium is missing: the tests of the page are skipped (scripts/install-chromium.sh)',
  );
}

/** Headless, and without network traffic of its own. */
export async function launchChromium(
  executablePath: string,
  flags: readonly string[] = [],
): Promise<Browser> {
  return chromium.launch({
    executablePath,
    args: [
      // the browser's sandbox needs an ordinary account, but tests also run as root
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      ...flags,
    ],
  });
}
