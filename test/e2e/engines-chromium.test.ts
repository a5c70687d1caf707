import { chromium } from '../helpers/engine-chromium.ts';
import { playScenarios } from './engines/suite.ts';

playScenarios(chromium);
