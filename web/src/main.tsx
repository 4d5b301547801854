// Where the page begins.
import { render } from 'preact';
import { App } from './app';
import './style.css';

const host = document.getElementById('page');
if (host) {
  host.textContent = '';
  render(<App />, host);
}
