"""Words that make poor names: they say how papers are written, not what they are about."""

from __future__ import annotations


def _listed(text: str) -> frozenset[str]:
    return frozenset(" ".join(entry.split()) for entry in text.split(",") if entry.strip())


#: Phrases, in normal form, that may support a name but never be one.
UNTELLING = _listed(
    """
    analysis, approach, approximation, assumption, astronomer, astronomy, astrophysics, atacama
    large millimeter, atlas, average, bang nucleosynthesis, best fit, calculation, case,
    catalog, class, code, companion, comparison, component, condition, constraint, contribution,
    coordinate, cosmology, cross section, curve, data, data analysis, data release, data set,
    dataset, degree, density, density profile, detection, determination, development, deviation,
    difference, direct numerical simulation, distance, distribution, distribution function,
    early time, effect, efficiency, emission, energy, energy level, energy range, energy
    resolution, energy threshold, equation, error, estimate, estimation, event, evidence,
    evolution, excess, experiment, feature, fit, fitting, flux, follow up observation,
    formation, formula, fraction, framework, free energy, frequency, frequency range, function,
    future observation, future work, good agreement, gpu, high energy, high resolution, high
    sensitivity, host, host star, image, implication, improvement, increase, information,
    initial condition, inner region, instrument, integration, intensity, interpretation,
    investigation, large number, large sample, large scale, law, layer, level, light, light
    curve, limit, line, list, literature, local universe, location, long term, loss, low energy,
    low frequency, low mass, lower limit, luminosity, magnetic prandtl, magnitude, map, mass,
    mass range, mass ratio, maximum, mean, measurement, mechanism, method, methodology, minimum,
    mission, mode, model, model parameter, modeling, motion, nature, new method, new model,
    noise, number, number density, numerical method, numerical model, numerical scheme,
    numerical simulation, object, observable, observation, observational constraint,
    observational data, observer, order, order of magnitude, origin, outer region, parameter,
    parameter space, part, particle, performance, period, phase, physical condition, physical
    parameter, physical process, physical property, physics, point, population, position, power,
    power law, power spectrum, prediction, presence, previous study, previous work, problem,
    process, production, profile, property, python, python package, quantity, radius, range,
    rate, ratio, redshift, redshift range, region, relation, relationship, relative error,
    resolution, resolving power, result, role, sample, scale, scaling relation, scenario,
    science, science case, sensitivity, set, shape, signal, significance, simulation, size, sky
    brightness, software, solution, source, space, spatial resolution, spectral resolution,
    spectrum, stability, state, statistic, statistical analysis, stellar mass, strength,
    structure, study, survey, system, systematic, systematic error, systematic uncertainty,
    technique, temperature, test, test mass, theoretical model, theory, time, time scale,
    timescale, tool, total mass, type, uncertainty, unit, universe, upper limit, value,
    variability, variable, variation, velocity, version, wavelength, wavelength range, work, x
    ray, x ray flux, xmm newton, year
    """
)

#: Last words of phrases that name a quantity, a means or a facility rather than a subject.
QUANTITIES = _listed(
    """
    accuracy, amplitude, angle, array, calculation, calibration, camera, catalog, code,
    coefficient, constraint, correlation, cross section, curve, data, density, depth, diagram,
    dispersion, distance, distribution, efficiency, equation, estimate, explorer, field,
    fraction, frequency, function, gradient, history, index, instrument, intensity, law, length,
    limit, line, luminosity, magnitude, mass, matrix, measure, measurement, method, metric,
    mission, model, momentum, motion, number, observation, observatory, parameter, period,
    phase, plate, potential, pressure, product, profile, property, radius, range, rate, ratio,
    redshift, regime, region, relation, resolution, satellite, scale, section, sensitivity,
    sequence, signal, simulation, size, solution, spacecraft, spectrum, strength, study, survey,
    technique, telescope, temperature, time, value, velocity, width
    """
)
