import { webkit } from '../helpers/engine-webkit.ts';
import { playScenarios } from './engines/suite.ts';

playScenarios(webkit);
