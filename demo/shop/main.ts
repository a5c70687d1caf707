import '../ui/base.css';
import './shop.css';
import { node } from '../ui/node.ts';
import { startPreview } from './preview.ts';
import { startShop } from './start-shop.ts';

const page = node('div', { class: 'page' });
document.body.append(page);

if (new URLSearchParams(location.search).has('preview')) startPreview(page);
else startShop(page);
