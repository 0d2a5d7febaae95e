// This script is not a module, because it must run before the page is drawn. Otherwise the page would first flash in
// the colours of the other theme.
{
  const key = 'theme';
  const root = document.documentElement;
  /** The chosen theme. `null` if the page uses the theme of the system. */
  const chosen = () => {
    try {
      return localStorage.getItem(key);
    } catch {
      // the browser does not allow storage
      return null;
    }
  };
  /** @param {string | null} theme */
  const show = (theme) => {
    if (theme === 'light' || theme === 'dark') root.dataset['theme'] = theme;
    else delete root.dataset['theme'];
  };
  show(chosen());
  addEventListener('DOMContentLoaded', () => {
    const choice = document.querySelector('.theme');
    if (!(choice instanceof HTMLElement)) return;
    choice.hidden = false;
    const theme = chosen() ?? 'system';
    for (const input of choice.querySelectorAll('input')) input.checked = input.value === theme;
    choice.addEventListener('change', (event) => {
      if (!(event.target instanceof HTMLInputElement)) return;
      const { value } = event.target;
      try {
        if (value === 'system') localStorage.removeItem(key);
        else localStorage.setItem(key, value);
      } catch {
        // the browser does not allow storage, so the choice applies only to this page
      }
      show(value);
    });
  });
}
