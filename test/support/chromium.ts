import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { isExecutable, orSayWhy } from '#test/support/find-program.ts';

/** Draws no window and has one process for a page and its frames: half of the processor time. */
const shell = 'chromium-headless-shell';
/** Have a process for each origin, as the browsers of visitors. */
const whole = ['chromium', 'chromium-browser', 'google-chrome'];

/** A browser of the machine: the one that CHROMIUM names, or one on the path; null: there is no browser. */
function findChromium(names: readonly string[]): string | null {
  const given = process.env['CHROMIUM'];
  if (given !== undefined && given !== '') return given;
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const paths = names.flatMap((name) => folders.map((folder) => join(folder, name)));
  return paths.find(isExecutable) ?? null;
}

const missing = 'chromium is missing: the tests of the page are skipped (scripts/install-chromium.sh)';

/**
 * The fastest browser for a suite; null if the machine has none, which is said in one line and is a failure with
 * CI=true, so that tests of pages are never skipped unnoticed.
 */
export const browserForTests = (): string | null => orSayWhy(findChromium([shell, ...whole]), missing);

/** A browser with origins in processes of their own, for contents that attack their page. */
export const wholeBrowserForTests = (): string | null => orSayWhy(findChromium(whole), missing);

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
