import type { ErrorCodeEntry } from './error-code-entry.ts';

/** Refusals of the operator's console. */
export const consoleErrors = {
  console_form_foreign: {
    meaning:
      'A form of the console was not sent by a page of the console in the same session: another site sent it, or the page is older than the session.',
    action: 'Open the page in the console again and send its form. If a proxy changes Host, set PUBLIC_URL.',
    retry: 'never',
  },
  console_changed: {
    meaning:
      'The target of an action of the console changed after the confirmation was shown, so nothing was done.',
    action: 'Read the new state, and confirm again if the action is still right.',
    retry: 'never',
  },
} as const satisfies Record<string, ErrorCodeEntry>;
