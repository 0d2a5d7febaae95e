import { expect, test } from 'vitest';
import { asHeight } from '#kernel/primitives/height.ts';
import { newWatchPage } from '#web/pages/watches.page.ts';

test.each(['webhookUrl is no URL', 'The URL is no URL.'])(
  'the form says why a watch was refused, with one full stop: %s',
  (reason) => {
    const page = newWatchPage({
      site: { network: 'mainnet', tipHeight: asHeight(951_658), banner: null },
      kind: 'search',
      condition: { text: 'apple' },
      form: '0'.repeat(32),
      fields: { kind: 'search', text: 'apple' },
      notes: [],
      refused: { webhookUrl: 'x', reason },
    }).text;
    expect(page).toMatch(/Nothing was saved: [^.<]+ is no URL\.<\/p>/u);
  },
);
