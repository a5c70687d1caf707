import { firefox } from '../helpers/engine-firefox.ts';
import { playScenarios } from './engines/suite.ts';

playScenarios(firefox);
