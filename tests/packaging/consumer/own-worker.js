import 'refloat/worker';
