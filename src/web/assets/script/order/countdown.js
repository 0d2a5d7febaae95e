// Time until a moment, in words. Pure.

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/**
 * Shows a time span in its two largest units, such as `2 days 4 h`. The text is empty if the moment has passed.
 *
 * @param {number} ms
 */
export function countdownWords(ms) {
  if (ms <= 0) return '';
  // rounded up, so that 0.4 s are shown as one second
  const seconds = Math.ceil(ms / 1000);
  const whole = seconds * 1000;
  const [days, hours] = [Math.floor(whole / dayMs), Math.floor((whole % dayMs) / hourMs)];
  if (days > 0) return `in ${days} ${days === 1 ? 'day' : 'days'}${hours === 0 ? '' : ` ${hours} h`}`;
  const minutes = Math.floor((whole % hourMs) / minuteMs);
  if (hours > 0) return `in ${hours} h ${minutes} min`;
  const rest = seconds % 60;
  return minutes > 0 ? `in ${minutes} min ${rest} s` : `in ${rest} s`;
}
