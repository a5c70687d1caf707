import { providePlacard } from '../../../src/element/index.ts';
import { createLocalPlacard } from './local-placard.ts';

const { placard, told } = createLocalPlacard('element-page');
Reflect.set(window, 'told', told);
providePlacard(placard);
