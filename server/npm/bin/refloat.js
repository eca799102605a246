#!/usr/bin/env node
// The command line.
import { launch } from '../lib/launch.js';

launch(process.argv.slice(2));
