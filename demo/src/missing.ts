import './styles/base.css';
import './styles/layout.css';
import './styles/hero.css';
import './styles/strip.css';
import './styles/figures.css';
import './styles/costs.css';
import './styles/slot.css';
import './styles/narrow.css';
import { keptTheme, otherTheme } from './theme.js';

// The page for addresses that lead nowhere.
keptTheme();
const path = document.getElementById('path');
if (path) path.textContent = location.pathname.slice(0, 200);
document.addEventListener('click', ({ target }) => {
  if ((target as Element).closest('[data-act=theme]')) otherTheme();
});
