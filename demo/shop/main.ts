import '../ui/base.css';
import './shop.css';
import { node } from '../ui/node.ts';
import { startShop } from './start-shop.ts';

const page = node('div', { class: 'page' });
document.body.append(page);
startShop(page);
